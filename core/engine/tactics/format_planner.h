#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace fusescope {

/// The problem of choosing memory formats and tactics: nodes in the order in which they run, each with the ways in
/// which it can run, and the values between them. A form of a value is a type and a memory format, represented by a
/// number. If a value is made in one form and read in another, it is converted, once for each form in which it is read.
struct FormatProblem {
  /// One way in which a node can run.
  struct Way {
    double ms = 0;
    std::size_t place = 0;                   ///< the rank in the order of preference; ways with rank 0 are equally
                                             ///< preferred
    std::vector<std::size_t> reads, writes;  ///< the form of each input and output, in the order of Node
    std::size_t format = 0;                  ///< a number for the memory format in which it works, with the same
                                             ///< meaning in all nodes
  };
  struct Node {
    std::vector<std::size_t> inputs, outputs;  ///< indices of values
    std::vector<Way> ways;                     ///< at least one; the most preferred is first and wins between equals
  };
  std::size_t values = 0;
  std::vector<Node> nodes;
  /// The form of each value that no node makes. It is ignored for other values.
  std::vector<std::size_t> givenForms;
  /// Returns the milliseconds for converting a value from one form to another. It is called once for each combination.
  std::function<double(std::size_t value, std::size_t from, std::size_t to)> conversionMs;
};

/// The way that was chosen for each node.
struct FormatPlan {
  std::vector<std::size_t> ways;  ///< by node
  double ms = 0;                  ///< the time of kernels and conversions together
  std::size_t conversions = 0;
  bool isExact = true;  ///< true: no cheaper choice exists; false: the search was limited
};

/// The largest number of combinations of forms of live values that the search follows.
constexpr std::size_t kMostFormatStates = 256;

/// Finds the cheapest choice; among equally cheap ones the choice with fewer conversions, then the one with the
/// preferred ways. It uses dynamic programming over the forms of the values that are live between two nodes. The result
/// is exact while there are at most `mostStates` combinations, as on chains, trees and residual connections. Beyond
/// that, only the most promising combinations are followed, and the result is improved node by node until no change of
/// a single node helps. It is a pure function.
FormatPlan planFormats(const FormatProblem& problem, std::size_t mostStates = kMostFormatStates);

/// Finds a choice that two measurements of the same network agree on. Among the choices that cost at most `mostLoss` (a
/// share) more than the cheapest, it returns one that departs from preferred ways, and converts, only where this gains
/// most. A departure or conversion must gain at least a margin, a share of its cost and of the mean time of a node; the
/// margin is the largest for which the total stays within `mostLoss`. So small differences are decided by the order of
/// preference, and noise affects only choices whose gain is close to the margin. The preferred way of a node is its
/// first one, or, if this costs too much, the way that works in one common memory format. It is a pure function.
FormatPlan planFormatsStably(const FormatProblem& problem, double mostLoss);

/// Computes the cost of a given choice.
FormatPlan priceFormats(const FormatProblem& problem, std::vector<std::size_t> ways);

}  // namespace fusescope
