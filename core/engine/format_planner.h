#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace fusescope {

/// What formats and tactics are to be chosen for: nodes in the order in which they run, each with the ways to run it,
/// and the values between them. A form of a value is a type and a memory format, here a number; what a value is in and
/// what a node reads it in may differ, and then it is converted, once for each form that anybody reads.
struct FormatProblem {
  /// One way to run a node.
  struct Way {
    double ms = 0;
    std::size_t place = 0;                   ///< in the order of preference; those at 0 are equally preferred
    std::vector<std::size_t> reads, writes;  ///< the form of each input and output, as Node's
    std::size_t format = 0;                  ///< the memory format that it works in; a number, equal in all nodes
  };
  struct Node {
    std::vector<std::size_t> inputs, outputs;  ///< values
    std::vector<Way> ways;                     ///< at least one, the preferred first: it is taken of equals
  };
  std::size_t values = 0;
  std::vector<Node> nodes;
  /// The form of each value that no node makes; of the others it says nothing.
  std::vector<std::size_t> givenForms;
  /// Milliseconds to bring a value from one form into another; asked once for each.
  std::function<double(std::size_t value, std::size_t from, std::size_t to)> conversionMs;
};

/// A choice for all nodes.
struct FormatPlan {
  std::vector<std::size_t> ways;  ///< by node
  double ms = 0;                  ///< kernels and conversions
  std::size_t conversions = 0;
  bool isExact = true;  ///< nothing is cheaper; otherwise the search was bounded
};

/// Combinations of forms of the values alive between two nodes that are followed.
constexpr std::size_t kMostFormatStates = 256;

/// The cheapest choice; of equally cheap ones that with fewer conversions, then that of the preferred ways. Dynamic
/// programming over the forms of the values that are alive between two nodes: exact while there are at most
/// `mostStates` combinations, as on chains, trees and residuals. Where more meet, the most promising are followed, and
/// what comes of that is improved node by node until no change of one helps. Pure: the same for the same problem.
FormatPlan planFormats(const FormatProblem& problem, std::size_t mostStates = kMostFormatStates);

/// A choice that two measurements of the same network agree about: of those that cost at most `mostLoss` more than the
/// cheapest, as a share, one that leaves preferred ways and converts only for what gains most. What is left or
/// converted must gain a margin of what it costs and of what a node takes in the mean, the largest margin under which
/// the whole stays within that loss. So what is hardly worth it is decided by order, and noise bears on few choices:
/// those that gain about that margin. Preferred is what comes first in the order of each node, or where that loses too
/// much, what works in one memory format. Pure.
FormatPlan planFormatsFirmly(const FormatProblem& problem, double mostLoss);

/// What a choice costs.
FormatPlan priceFormats(const FormatProblem& problem, std::vector<std::size_t> ways);

}  // namespace fusescope
