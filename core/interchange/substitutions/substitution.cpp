#include "interchange/substitutions/substitution.h"

#include <algorithm>

#include "frontends/onnx/file_tensors.h"
#include "interchange/typed_network/names_of_file.h"

namespace fusescope {

#define SUBSTITUTION(NAME) Substitution NAME();
#include "interchange/substitutions/substitutions.inc"
#undef SUBSTITUTION

std::string SiteSearch::fresh(const std::string& wanted) const {
  return freshName(wanted, names);
}

std::string SiteSearch::number(ReplacedSite& site, const std::string& wanted, double number, DataType type) const {
  std::string name = fresh(wanted);
  const double held[] = {number};
  const Tensor tensor = Tensor::copyOf<double>(DataType::F64, {}, held).converted(type);
  site.weights.push_back(fileTensor(name, tensor));
  return name;
}

std::string SiteSearch::integers(ReplacedSite& site, const std::string& wanted,
                                 std::vector<std::int64_t> numbers) const {
  std::string name = fresh(wanted);
  site.weights.push_back(fileTensor(name, Tensor::ofInt64(std::move(numbers))));
  return name;
}

const std::vector<Substitution>& substitutions() {
  static const std::vector<Substitution> kAll{
#define SUBSTITUTION(NAME) NAME(),
#include "interchange/substitutions/substitutions.inc"
#undef SUBSTITUTION
  };
  return kAll;
}

const Substitution* findSubstitution(std::string_view name) {
  const auto found = std::ranges::find(substitutions(), name, &Substitution::name);
  return found == substitutions().end() ? nullptr : &*found;
}

onnxlib::NetworkEdits editsOf(const std::vector<ReplacedSite>& sites) {
  onnxlib::NetworkEdits edits;
  for (const ReplacedSite& site : sites) {
    for (const std::size_t place : site.gone) edits.removedNodes.push_back({{}, place});
    for (const auto& node : site.made) edits.nodes.push_back({{}, node});
    for (const auto& tensor : site.weights) edits.initializers.push_back({{}, tensor});
    if (site.borders) edits.borders = site.borders;
  }
  return edits;
}

onnxlib::FileNode fileNodeOf(std::string name, std::string op, std::vector<std::string> inputs, std::string output,
                             std::vector<onnxlib::FileAttribute> attributes) {
  return {.name = std::move(name),
          .op = std::move(op),
          .inputs = std::move(inputs),
          .outputs = {std::move(output)},
          .attributes = std::move(attributes)};
}

}  // namespace fusescope
