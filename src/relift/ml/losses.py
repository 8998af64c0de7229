r"""Losses of linear models over weighted distinct rows, with their conjugates.

A loss is :math:`\sum_i n_i\,\varphi(f_i; \bar y_i)` over distinct rows, where :math:`n_i` is the total weight of the
rows that are equal to row i and :math:`\bar y_i` their mean target; what depends on the targets alone is left out, so
that merging rows changes nothing. With :math:`\theta_i = -n_i\varphi'(f_i)` (the residual) and
:math:`\mu_i = \bar y_i - \theta_i / n_i` (the fitted mean) the conjugate gives for **every** admissible
:math:`\theta` with :math:`\sum_i\theta_i = 0` (if there is an intercept) the lower bound

.. math:: D(\theta) = -\sum_i \varphi_i^*(-\theta_i) - \Omega^*(X^\top\theta)

on the optimum of loss plus penalty :math:`\Omega`.

============ ======================================= ============================== ===========================
loss         :math:`\varphi(f; y)`                   :math:`\mu`                    :math:`-\varphi^*`
============ ======================================= ============================== ===========================
squared      :math:`(f - y)^2 / 2`                   :math:`f`                      :math:`(y^2 - \mu^2) / 2`
Poisson      :math:`e^f - y f`                       :math:`e^f`                    :math:`\mu - \mu\log\mu`
logistic     :math:`\log(1 + e^f) - y f`             :math:`1 / (1 + e^{-f})`       entropy of :math:`\mu`
multinomial  :math:`\log\sum_k e^{f_k} - y^\top f`   softmax of f                   entropy of :math:`\mu`
============ ======================================= ============================== ===========================
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import final

import numpy as np

from relift.arrays import Double


class Loss(ABC):
    """A loss over distinct rows; scores and residuals are matrices with one column for each output.

    Parameters
    ----------
    weight
        Total weight of each distinct row, positive.
    mean
        Mean target of each distinct row, one column for each output.
    """

    def __init__(self, weight: Double, mean: Double) -> None:
        self.weight, self.mean = weight, mean
        self.n_outputs = mean.shape[1]

    @abstractmethod
    def value_and_means(self, scores: Double) -> tuple[float, Double]:
        """The loss, without what depends on the targets alone, and fitted means."""

    @abstractmethod
    def curvature(self, means: Double) -> Double:
        """Second derivatives by the scores of each row, output by output (for several outputs: of the diagonal)."""

    @abstractmethod
    def conjugate(self, means: Double) -> float:
        """The part of the lower bound that belongs to the loss, for admissible fitted means."""

    @abstractmethod
    def balanced(self, means: Double) -> Double:
        """The nearest admissible fitted means whose total is that of the targets, as an intercept makes it."""

    @abstractmethod
    def null_scores(self) -> Double:
        """Scores of the best constant, one for each output."""

    @abstractmethod
    def constant(self) -> float:
        """A lower bound of the loss that depends on the means of the targets alone."""

    def value(self, scores: Double) -> float:
        """The loss, without what depends on the targets alone."""
        return self.value_and_means(scores)[0]

    def residual(self, means: Double) -> Double:
        """The dual point that belongs to fitted means."""
        return self.weight[:, None] * (self.mean - means)


@final
class Squared(Loss):
    """Half the squared error."""

    def value_and_means(self, scores: Double) -> tuple[float, Double]:
        """The loss, less that of the targets themselves, and the scores."""
        return float(self.weight @ (0.5 * scores**2 - scores * self.mean)[:, 0]), scores

    def curvature(self, means: Double) -> Double:
        """The weights."""
        return self.weight[:, None].copy()

    def conjugate(self, means: Double) -> float:
        """Minus half the weighted square."""
        return -0.5 * float(self.weight @ means[:, 0] ** 2)

    def balanced(self, means: Double) -> Double:
        """Shifted to the total of the targets."""
        total = self.weight.sum()
        return np.asarray(means + float(self.weight @ (self.mean - means)[:, 0]) / total)

    def null_scores(self) -> Double:
        """The mean."""
        return np.array([float(self.weight @ self.mean[:, 0]) / float(self.weight.sum())])

    def constant(self) -> float:
        """The loss of the means themselves."""
        return -0.5 * float(self.weight @ self.mean[:, 0] ** 2)


@final
class Poisson(Loss):
    """Half the Poisson deviance of counts, with the logarithm as link."""

    def value_and_means(self, scores: Double) -> tuple[float, Double]:
        """The loss without the logarithms of the targets, infinite where exp overflows; and expected counts."""
        with np.errstate(over="ignore"):
            means = np.exp(scores)
            return float(self.weight @ (means - scores * self.mean)[:, 0]), means

    def curvature(self, means: Double) -> Double:
        """Weighted expected counts."""
        return self.weight[:, None] * means

    def conjugate(self, means: Double) -> float:
        """Weighted means less their entropy."""
        return float(self.weight @ (means - _times_log(means))[:, 0])

    def balanced(self, means: Double) -> Double:
        """Scaled to the total of the targets."""
        return np.asarray(means * (float(self.weight @ self.mean[:, 0]) / float(self.weight @ means[:, 0])))

    def null_scores(self) -> Double:
        """Logarithm of the mean count."""
        return np.array([np.log(float(self.weight @ self.mean[:, 0]) / float(self.weight.sum()))])

    def constant(self) -> float:
        """The loss of the means themselves."""
        return self.conjugate(self.mean)


def _times_log(means: Double) -> Double:
    """Means times their logarithms, which is 0 at 0; numbers below 1e-300 count as 0 too."""
    return np.asarray(means * np.log(np.maximum(means, 1e-300)))


def _mixed_to_total(weight: Double, means: Double, totals: Double) -> Double:
    """Mix probabilities with one constant distribution, as little as it takes to have given totals.

    With D the excess of the totals over those wanted, (1 - e) means + e t has them for t = means' total / all -
    D / (e all); t is a distribution if e D_k' <= ... , that is for e >= D_k / (total_k) wherever D_k > 0.
    """
    found = weight @ means
    excess = found - totals
    share = float(np.max(np.where(excess > 0, excess / np.maximum(found, 1e-300), 0.0)))
    if share == 0.0:
        return means
    mass = float(weight.sum())
    extra = np.maximum(found / mass - excess / (share * mass), 0.0)
    return np.asarray((1.0 - share) * means + share * extra)


@final
class Logistic(Loss):
    """The logistic loss of two labels; the target is the share of the second."""

    def value_and_means(self, scores: Double) -> tuple[float, Double]:
        """The loss, and probabilities of the second label; exp is taken of what is not positive."""
        small = np.exp(-np.abs(scores))
        likelier = 1.0 / (1.0 + small)
        means = np.where(scores > 0, likelier, small * likelier)
        return float(self.weight @ (np.log1p(small) + np.maximum(scores, 0.0) - scores * self.mean)[:, 0]), means

    def curvature(self, means: Double) -> Double:
        """Weighted p (1 - p)."""
        return np.asarray(self.weight[:, None] * means * (1.0 - means))

    def conjugate(self, means: Double) -> float:
        """The weighted entropy."""
        return -float(self.weight @ (_times_log(means) + _times_log(1.0 - means))[:, 0])

    def balanced(self, means: Double) -> Double:
        """Mixed with a constant to the total of the targets."""
        both = np.column_stack([1.0 - means[:, 0], means[:, 0]])
        share = self.mean[:, 0]
        totals = np.array([self.weight @ (1.0 - share), self.weight @ share])
        return np.asarray(_mixed_to_total(self.weight, both, totals)[:, 1:])

    def null_scores(self) -> Double:
        """The log odds of all rows."""
        second = float(self.weight @ self.mean[:, 0])
        return np.array([np.log(second) - np.log(float(self.weight.sum()) - second)])

    def constant(self) -> float:
        """The loss of the shares themselves."""
        return self.conjugate(self.mean)


@final
class Multinomial(Loss):
    """The cross-entropy of several labels; the targets are their shares."""

    def __init__(self, weight: Double, mean: Double) -> None:
        super().__init__(weight, np.asfortranarray(mean))  # one label after the other: sums over labels are quick
        self.weighted_mean = self.weight[:, None] * self.mean

    def value_and_means(self, scores: Double) -> tuple[float, Double]:
        """The loss, and probabilities of the labels."""
        top = scores.max(axis=1, keepdims=True)
        means = np.exp(scores - top)
        total = means.sum(axis=1, keepdims=True)
        means /= total
        linear = float((self.weighted_mean * scores).sum())
        return float(self.weight @ (top + np.log(total))[:, 0]) - linear, means

    def curvature(self, means: Double) -> Double:
        """Weighted p (1 - p) of each label."""
        return self.weight[:, None] * means * (1.0 - means)

    def conjugate(self, means: Double) -> float:
        """The weighted entropy."""
        return -float(self.weight @ _times_log(means).sum(axis=1))

    def balanced(self, means: Double) -> Double:
        """Mixed with a constant to the totals of the targets."""
        return _mixed_to_total(self.weight, means, self.weight @ self.mean)

    def null_scores(self) -> Double:
        """Logarithms of the shares of all rows, of mean 0."""
        logs = np.log(self.weight @ self.mean)
        return np.asarray(logs - logs.mean())

    def constant(self) -> float:
        """The loss of the shares themselves."""
        return self.conjugate(self.mean)
