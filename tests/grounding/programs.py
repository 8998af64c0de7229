"""The programs of the language's worked answers."""

TC_QP_SVM = """
relation word/2, cite/2, query/1;   param label/1, c1 = 1, c2 = 0.5;
feature(J)    if word(_,J);
linked(I1,I2) if label(I1) & query(I2) & (cite(I1,I2) | cite(I2,I1));
var weight(J) in feature(J), bias, slack(I) in label(I) >= 0, coslack(I1,I2) in linked(I1,I2) >= 0;
def predict(I) = sum{J in word(I,J)} weight(J) + bias;
def slacks     = sum{I in label(I)} slack(I);
def coslacks   = sum{I1,I2 in linked(I1,I2)} coslack(I1,I2);
minimize loss: sum{J in feature(J)} weight(J)**2 + c1*slacks + c2*coslacks;
subject to margin forall {I in label(I)}: label(I)*predict(I) >= 1 - slack(I);
subject to collective forall {I1,I2 in linked(I1,I2)}: label(I1)*predict(I2) >= 1 - coslack(I1,I2);
"""
TC_QP_SVM_FACTS = """
label := {p1:1, p2:1, p3:-1, p4:-1};   query := {q1, q2, q3, q4, q5};
word  := {(p1,w1),(p1,w2),(p2,w1),(p2,w3),(p3,w4),(p3,w5),(p4,w4),(p4,w6),
          (q1,w2),(q2,w3),(q3,w5),(q4,w6),(q5,w1),(q5,w4)};
cite  := {(p1,q1),(q2,p2),(p3,q3),(q4,p4),(p1,q5),(q5,p3)};
"""
MAX_FLOW = """
param cap/2;   edge(X,Y) if cap(X,Y);   node(X) if edge(X,_) | edge(_,X);
var flow(X,Y) in edge(X,Y) >= 0 <= cap(X,Y);
maximize total: sum{X,Y in source(X) & edge(X,Y)} flow(X,Y);
subject to balance forall {Z in node(Z) & !source(Z) & !target(Z)}:
    sum{X in edge(X,Z)} flow(X,Z) = sum{Y in edge(Z,Y)} flow(Z,Y);
relation source/1, target/1;  source(a);  target(g);
"""
MAX_FLOW_FACTS = """
cap := {(a,b):50,(a,c):100,(b,d):40,(b,e):20,(c,d):60,(c,f):20,(d,e):50,(d,f):60,(e,g):70,(f,g):70};
"""
SUDOKU = """
relation num/1, boxind/1, initial/3;   num := {1..9};  boxind := {1..3};
box(I,J,U,V) if boxind(U) & boxind(V) & num(I) & num(J) & 3*(U-1) < I & I <= 3*U & 3*(V-1) < J & J <= 3*V;
var fill(I,J,X) in num(I) & num(J) & num(X) >= 0;
maximize: sum{X in num(X)} fill(1,1,X);
subject to cell forall {I,J in num(I) & num(J)}: sum{X in num(X)} fill(I,J,X) = 1;
subject to row  forall {I,X in num(I) & num(X)}: sum{J in num(J)} fill(I,J,X) = 1;
subject to col  forall {J,X in num(J) & num(X)}: sum{I in num(I)} fill(I,J,X) = 1;
subject to blk  forall {X,U,V in num(X) & boxind(U) & boxind(V)}: sum{I,J in box(I,J,U,V)} fill(I,J,X) = 1;
subject to clue forall {I,J,X in initial(I,J,X)}: fill(I,J,X) = 1;
"""
CLUES = [
    "53..7....",
    "6..195...",
    ".98....6.",
    "8...6...3",
    "4..8.3..1",
    "7...2...6",
    ".6....28.",
    "...419..5",
    "....8..79",
]
SUDOKU_ANSWER = [
    "534678912",
    "672195348",
    "198342567",
    "859761423",
    "426853791",
    "713924856",
    "961537284",
    "287419635",
    "345286179",
]
MAP_LP = """
relation edge/2, val/1;   param theta1/2 default 0, theta2/4 default 0;   node(X) if edge(X,_) | edge(_,X);
var mu(X,V) in node(X) & val(V) >= 0,  nu(X,Y,V,W) in edge(X,Y) & val(V) & val(W) >= 0;
maximize score: sum{X,V in theta1(X,V)} theta1(X,V)*mu(X,V)
              + sum{X,Y,V,W in theta2(X,Y,V,W)} theta2(X,Y,V,W)*nu(X,Y,V,W);
subject to norm  forall {X in node(X)}: sum{V in val(V)} mu(X,V) = 1;
subject to left  forall {X,Y,V in edge(X,Y) & val(V)}: sum{W in val(W)} nu(X,Y,V,W) = mu(X,V);
subject to right forall {X,Y,W in edge(X,Y) & val(W)}: sum{V in val(V)} nu(X,Y,V,W) = mu(Y,W);
val := {0,1};
"""
LASSO = """
param x/2, y/1, lambda = 4;   feature(J) if x(_,J);   var w(J) in feature(J), t(J) in feature(J);
minimize: sum{I in y(I)} (y(I) - sum{J in x(I,J)} x(I,J)*w(J))**2 + lambda*sum{J in feature(J)} t(J);
subject to absval forall {J in feature(J)}: -t(J) <= w(J) <= t(J);
"""
REGRESSION_FACTS = """
x := {(1,a):1,(1,b):0,(2,a):0,(2,b):1,(3,a):1,(3,b):1,(4,a):2,(4,b):-1};   y := {1:1, 2:2, 3:2.5, 4:0.5};
"""
RIDGE = """
param x/2, y/1, lambda = 1;   feature(J) if x(_,J);   var w(J) in feature(J);
minimize: sum{I in y(I)} (y(I) - sum{J in x(I,J)} x(I,J)*w(J))**2 + lambda*sum{J in feature(J)} w(J)**2;
"""
MDP = """
relation coord/1, goal/2, move/3;   param gamma = 0.9;   coord := {1..4};   goal(4,4);
move := {(n,0,1),(s,0,-1),(e,1,0),(w,-1,0)};   dir(A) if move(A,_,_);   cell(X,Y) if coord(X) & coord(Y);
go(X,Y,A,X2,Y2)   if cell(X,Y) & move(A,DX,DY) & X2 = X+DX & Y2 = Y+DY & cell(X2,Y2);
can(X,Y,A)        if go(X,Y,A,_,_);
step(X,Y,A,X2,Y2) if go(X,Y,A,X2,Y2);   step(X,Y,A,X,Y) if cell(X,Y) & dir(A) & !can(X,Y,A);
var v(X,Y) in cell(X,Y);
minimize: sum{X,Y in cell(X,Y)} v(X,Y);
subject to bellman forall {X,Y,A,X2,Y2 in step(X,Y,A,X2,Y2) & !goal(X,Y)}: v(X,Y) >= -1 + gamma*v(X2,Y2);
subject to absorb  forall {X,Y in goal(X,Y)}: v(X,Y) = 0;
"""
LP_SVM = """
param at/2, label/1, c = 1;  point(I) if label(I);  axis(D) if at(_,D);
var w(D) in axis(D) >= -1 <= 1, b, r >= 0, slack(I) in point(I) >= 0;
minimize: c*sum{I in point(I)} slack(I) - r;
subject to margin forall {I in point(I)}: label(I)*(sum{D in at(I,D)} at(I,D)*w(D) + b) >= r - slack(I);
"""
QP_SVM = """
param at/2, label/1, c1 = 1;  point(I) if label(I);  axis(D) if at(_,D);
var w(D) in axis(D), b, slack(I) in point(I) >= 0;
minimize: sum{D in axis(D)} w(D)**2 + c1*sum{I in point(I)} slack(I);
subject to margin forall {I in point(I)}: label(I)*(sum{D in at(I,D)} at(I,D)*w(D) + b) >= 1 - slack(I);
"""
POINTS = """
at := {(1,x):2,(1,y):2,(2,x):2,(2,y):1,(3,x):3,(3,y):4,(4,x):4,(4,y):3};  label := {1:-1, 2:-1, 3:1, 4:1};
"""
