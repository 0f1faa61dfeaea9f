#include "compilers/tensorrt/named_nodes.h"

#include <optional>

namespace fusescope {

std::vector<std::string_view> fileNodesOf(const CompilerInput& network, std::string_view nameInMetadata) {
  const auto find = [&](std::string_view name) -> std::optional<std::string_view> {
    const auto known = network.nodes.find(name);
    if (known == network.nodes.end()) return std::nullopt;
    return known->first;
  };
  if (const auto whole = find(nameInMetadata)) return {*whole};
  // The separator in the name of a node in a body: "n3 | true_graph_0 (then_branch) | n2 (If)". The last name of a node
  // of the main graph is the holder.
  constexpr std::string_view kInside = " | ";
  std::string_view rest = nameInMetadata;
  for (std::size_t at = rest.rfind(kInside); at != std::string_view::npos; at = rest.rfind(kInside)) {
    std::string_view holder = rest.substr(at + kInside.size());
    rest = rest.substr(0, at);
    if (const std::size_t op = holder.rfind(" ("); op != std::string_view::npos) holder = holder.substr(0, op);
    if (const auto known = find(holder)) return {*known};
  }
  if (const auto known = rest == nameInMetadata ? std::nullopt : find(rest)) return {*known};
  return {};
}

}  // namespace fusescope
