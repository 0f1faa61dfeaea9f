#include "interchange/typed_network/names_of_file.h"

namespace fusescope {

void collectNames(const onnxlib::FileGraph& graph, std::set<std::string>& names) {
  for (const auto& input : graph.inputs) names.insert(input.name);
  for (const auto& tensor : graph.initializers) names.insert(tensor.name);
  for (const onnxlib::FileNode& node : graph.nodes) {
    names.insert(node.name);
    names.insert(node.outputs.begin(), node.outputs.end());
    for (const auto& attribute : node.attributes)
      if (const auto* body = std::get_if<std::shared_ptr<const onnxlib::FileGraph>>(&attribute.value))
        collectNames(**body, names);
  }
}

std::string freshName(const std::string& wanted, std::set<std::string>& names, std::string_view before) {
  if (names.insert(wanted).second) return wanted;
  for (int number = 2;; ++number) {
    std::string name = wanted + std::string(before) + std::to_string(number);
    if (names.insert(name).second) return name;
  }
}

}  // namespace fusescope
