#include "diff/fusion_words.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

#include "base/text.h"

namespace fusescope {

namespace {

constexpr std::size_t kMostOpsNamed = 3;

std::string countWord(std::size_t count) {
  static constexpr std::array<std::string_view, 13> kWords{"no",    "one",   "two",  "three", "four",   "five",  "six",
                                                           "seven", "eight", "nine", "ten",   "eleven", "twelve"};
  return count < kWords.size() ? std::string(kWords[count]) : std::to_string(count);
}

/// Returns "Gelu", "Add and Relu" or "Mul, Add, Relu and 4 more".
std::string opsNamed(const std::vector<std::string>& ops) {
  std::vector<std::string> distinct;
  for (const std::string& op : ops)
    if (std::ranges::find(distinct, op) == distinct.end()) distinct.push_back(op);
  if (distinct.size() == 1) return distinct.front();
  if (distinct.size() <= kMostOpsNamed) {
    const std::string last = distinct.back();
    distinct.pop_back();
    return joined(distinct) + " and " + last;
  }
  const std::size_t more = distinct.size() - kMostOpsNamed;
  distinct.resize(kMostOpsNamed);
  return joined(distinct) + " and " + std::to_string(more) + " more";
}

/// Returns the operators of all kernels except the one with the most nodes.
std::vector<std::string> opsBesideLargest(const std::vector<KernelOps>& kernels) {
  const auto largest = std::ranges::max_element(kernels, {}, [](const KernelOps& kernel) { return kernel.ops.size(); });
  std::vector<std::string> ops;
  for (auto kernel = kernels.begin(); kernel != kernels.end(); ++kernel)
    if (kernel != largest) ops.insert(ops.end(), kernel->ops.begin(), kernel->ops.end());
  return ops;
}

/// Returns the operators of nodes that are in another kernel in `b` than in the kernel of `a` that shares most nodes
/// with it. If `held` is set, these are nodes that `a` contains, otherwise nodes that it does not contain.
std::vector<std::string> opsElsewhere(const std::vector<KernelOps>& a, const std::vector<KernelOps>& b, bool held) {
  std::vector<std::string> ops;
  for (const KernelOps& kernel : b) {
    const std::set<std::string> here(kernel.nodes.begin(), kernel.nodes.end());
    const auto shared = [&](const KernelOps& other) {  // of kernels with equal shares, the one with fewer other nodes
      const auto common =
          std::ranges::count_if(other.nodes, [&](const std::string& node) { return here.contains(node); });
      return std::pair(common, -std::ssize(other.nodes));
    };
    const KernelOps& most = *std::ranges::max_element(a, {}, shared);
    const auto holds = [](const KernelOps& other, const std::string& node) {
      return std::ranges::find(other.nodes, node) != other.nodes.end();
    };
    for (std::size_t i = 0; i < kernel.nodes.size(); ++i) {
      const std::string& node = kernel.nodes[i];
      const bool isHeld = std::ranges::any_of(a, [&](const KernelOps& other) { return holds(other, node); });
      if (isHeld == held && !holds(most, node)) ops.push_back(kernel.ops[i]);
    }
  }
  return ops;
}

}  // namespace

std::string fusionCounts(std::size_t a, std::size_t b) {
  const std::string before = countWord(a) + (a == 1 ? " kernel" : " kernels");
  return before + " → " + (a == b ? countWord(b) + (b == 1 ? " other" : " others") : countWord(b));
}

std::string nodesToKernelsText(std::size_t nodes, std::size_t kernels) {
  return countWord(nodes) + (nodes == 1 ? " node → " : " nodes → ") + countWord(kernels) +
         (kernels == 1 ? " kernel" : " kernels");
}

std::string kernelCountsText(std::size_t here, std::size_t there) {
  return "here " + countWord(here) + (here == 1 ? " kernel" : " kernels") + ", there " +
         (here == there ? countWord(there) + (there == 1 ? " other" : " others") : countWord(there));
}

std::string fusionDetail(const std::vector<KernelOps>& a, const std::vector<KernelOps>& b, bool sameNames) {
  if (a.empty() || b.empty()) return {};
  if (a.size() < b.size()) return opsNamed(opsBesideLargest(b)) + " apart";
  if (a.size() > b.size()) return opsNamed(opsBesideLargest(a)) + " merged in";
  if (!sameNames) return {};
  if (const auto moved = opsElsewhere(a, b, true); !moved.empty()) return opsNamed(moved) + " elsewhere";
  if (const auto ofB = opsElsewhere(a, b, false); !ofB.empty()) return "with " + opsNamed(ofB) + " in B";
  const auto ofA = opsElsewhere(b, a, false);
  return ofA.empty() ? "" : "with " + opsNamed(ofA) + " in A";
}

}  // namespace fusescope
