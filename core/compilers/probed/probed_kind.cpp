#include "compilers/probed/probed_kind.h"

#include <fmt/format.h>

#include <cctype>

namespace fusescope {
namespace {

bool isOfName(char letter) {
  return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_';
}

}  // namespace

bool ProbedKind::takesTarget(std::string_view asked) const {
  return isForTarget(asked, target());
}

std::string ProbedKind::elsewhere() const {
  return fmt::format(
      "If it is on a machine that cannot be reached, run fusescope probe pack MODEL --compiler {} -o job.pyz here, "
      "python3 job.pyz there, and fusescope probe open result.zip here.",
      name());
}

std::string ProbedKind::whyNoWorkspace() const {
  return std::string(title()) + " has no limit of the scratch memory of a kernel.";
}

std::string ProbedKind::whyNoRefit() const {
  return fmt::format("the kernels of {} contain the weights", title());
}

Result<std::vector<OptimiserStep>> ProbedKind::optimiserSteps(const ProbeAnswer&) const {
  return Diagnostic{.message = std::string(title()) + " does not say which steps its optimisation takes"};
}

Result<ReadBack> ProbedKind::readBackCompared(const CompilerInput& network, const ProbeAnswer& compiled,
                                              const ComparedOn& /*on*/) const {
  return readBack(network, compiled);
}

/// Returns the only node whose number occurs in the error as a word.
NodeId ProbedKind::failedAt(const CompilerInput& network, const Diagnostic& error) const {
  const std::string text = error.where.node + " " + error.message;
  NodeId found;
  for (std::size_t from = 0; from < text.size();) {
    std::size_t to = from;
    while (to < text.size() && isOfName(text[to])) ++to;
    const auto named = network.nodes.find(std::string_view(text).substr(from, to - from));
    from = to + 1;
    if (named == network.nodes.end() || named->second.empty()) continue;
    if (found.valid() && found != named->second.front()) return {};
    found = named->second.front();
  }
  return found;
}

}  // namespace fusescope
