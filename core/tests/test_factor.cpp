// Tests of predicted fill against elimination with sets; built with sanitizers.
#include <random>
#include <set>

#include "check.hpp"
#include "relift/factor/fill.hpp"

using namespace relift::factor;

struct Graph {
    std::vector<int32_t> offsets{0}, indices;
};

Graph graph_of(const std::vector<std::set<int32_t>>& neighbours) {
    Graph graph;
    for (const auto& of_one : neighbours) {
        graph.indices.insert(graph.indices.end(), of_one.begin(), of_one.end());
        graph.offsets.push_back(int32_t(graph.indices.size()));
    }
    return graph;
}

Fill predicted(const Graph& graph, double most = 1e18) {
    return predicted_fill(graph.offsets.data(), graph.offsets.size(), graph.indices.data(), graph.indices.size(), most);
}

// Entries of the factor when nodes are eliminated by exact minimum degree.
double least_fill(std::vector<std::set<int32_t>> neighbours) {
    std::set<size_t> left;
    for (size_t i = 0; i < neighbours.size(); ++i) left.insert(i);
    double entries = 0;
    while (!left.empty()) {
        size_t pivot = *left.begin();
        for (const size_t i : left)
            if (neighbours[i].size() < neighbours[pivot].size()) pivot = i;
        left.erase(pivot);
        entries += double(neighbours[pivot].size());
        for (const int32_t i : neighbours[pivot]) {
            neighbours[size_t(i)].insert(neighbours[pivot].begin(), neighbours[pivot].end());
            neighbours[size_t(i)].erase(i);
            neighbours[size_t(i)].erase(int32_t(pivot));
        }
    }
    return entries;
}

void test_random_graphs() {
    std::mt19937_64 random(1);
    for (int k = 0; k < 200; ++k) {
        const size_t n = 1 + random() % 60;
        std::vector<std::set<int32_t>> neighbours(n);
        size_t edges = 0;
        for (size_t e = 0, m = random() % (3 * n); e < m; ++e) {
            const size_t i = random() % n, j = random() % n;
            if (i != j && neighbours[i].insert(int32_t(j)).second) {
                neighbours[j].insert(int32_t(i));
                ++edges;
            }
        }
        const Fill fill = predicted(graph_of(neighbours));
        const double exact = least_fill(neighbours);
        CHECK(fill.is_whole);
        CHECK(fill.entries >= double(edges) && fill.entries <= 1.3 * exact + 5);
        CHECK(fill.operations >= fill.entries || fill.entries == 0);
        const Fill bound = predicted(graph_of(neighbours), double(random() % 100));  // given up: what is left is dense
        CHECK(bound.entries >= fill.entries && bound.entries <= double(n * (n - 1)) / 2);
        CHECK(bound.operations >= fill.operations);
        CHECK(!bound.is_whole || bound.entries == fill.entries);
    }
}

// The least entries that any order can have: of what is left when some are eliminated, by all sets of these.
double best_fill(const std::vector<std::set<int32_t>>& neighbours) {
    const size_t n = neighbours.size();
    const auto degree = [&](size_t node, size_t gone) {  // those that a way through nodes that are gone leads to
        size_t seen = size_t(1) << node, found = 0;
        std::vector<size_t> next{node};
        while (!next.empty()) {
            const size_t at = next.back();
            next.pop_back();
            for (const int32_t other : neighbours[at]) {
                if (seen >> other & 1) continue;
                seen |= size_t(1) << other;
                if (gone >> other & 1)
                    next.push_back(size_t(other));
                else
                    ++found;
            }
        }
        return double(found);
    };
    std::vector<double> best(size_t(1) << n, 1e18);
    best[0] = 0;
    for (size_t gone = 0; gone < best.size(); ++gone)
        for (size_t node = 0; node < n; ++node)
            if (!(gone >> node & 1)) {
                double& after = best[gone | size_t(1) << node];
                after = std::min(after, best[gone] + degree(node, gone));
            }
    return best.back();
}

void test_what_is_put_off() {
    std::mt19937_64 random(2);
    for (int k = 0; k < 300; ++k) {
        const size_t n = 2 + random() % 7, patience = random() % 3;
        std::vector<std::set<int32_t>> neighbours(n);
        for (size_t e = 0, m = random() % (3 * n); e < m; ++e) {
            const size_t i = random() % n, j = random() % n;
            if (i == j) continue;
            neighbours[i].insert(int32_t(j));
            neighbours[j].insert(int32_t(i));
        }
        const Graph graph = graph_of(neighbours);
        const Fill fill = MinimumDegree(graph.offsets.data(), graph.indices.data(), n, patience).run(1e18);
        CHECK(fill.is_whole && fill.entries >= best_fill(neighbours) && fill.entries <= 2 * least_fill(neighbours) + 5);
    }
}

void test_wrong_graphs() {
    Graph graph;
    graph.offsets = {0, 1, 2};
    graph.indices = {1, 0};
    CHECK(predicted(graph).entries == 1);
    CHECK(predicted(graph, -1).is_whole);  // what is left is one node
    CHECK(!predicted(graph_of({{1}, {0, 2}, {1, 3}, {2}}), -1).is_whole);
    for (const int32_t bad : {-1, 2, 0}) {
        graph.indices = {bad, 0};
        CHECK(throws<std::invalid_argument>([&] { predicted(graph); }));
    }
    graph.indices = {1, 0};
    graph.offsets = {0, 2, 1};
    CHECK(throws<std::invalid_argument>([&] { predicted(graph); }));
    graph.offsets = {0, 1, 3};
    CHECK(throws<std::invalid_argument>([&] { predicted(graph); }));
}

int main() {
    test_random_graphs();
    test_what_is_put_off();
    test_wrong_graphs();
    std::puts("all passed");
}
