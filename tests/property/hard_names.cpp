#include "tests/property/hard_names.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "base/files.h"
#include "compilers/probed/compiler_input.h"
#include "frontends/importers.h"
#include "passes/pipelines.h"

namespace fusescope::property {
namespace {

using onnxlib::FileGraph;
using onnxlib::FileNode;

const std::vector<std::string>& hardTexts() {
  static const std::vector<std::string> kTexts = {
      "a,b", "a[0]", "[", "]",  "a\nb",  "\r\n", " ",      "  a ",   "(a) (b)", "n3", "v7",       "n0",
      "{1}", "a b",  "ä", "%s", "a\tb",  "'",    "\"",     "\\",     "a#2",     ":0", "x=1",      "<a>",
      "a;b", "/a/b", "…", ",",  "+ + +", "--",   "a, b, ", "MatMul", "Cast",    "1",  "$(a) `b`", "*?"};
  return kTexts;
}

/// Values keep apart by a number within their names; nodes need no names at all.
class Namer {
 public:
  explicit Namer(mutation::Dice& dice) : m_dice(dice) {}

  /// `outer`: what the values around are called now.
  FileGraph named(const FileGraph& graph, const std::map<std::string, std::string>& outer) {
    std::map<std::string, std::string> names = outer;
    for (const auto& input : graph.inputs) names[input.name] = fresh();
    for (const auto& tensor : graph.initializers) names[tensor.name] = fresh();
    for (const FileNode& node : graph.nodes)
      for (const std::string& output : node.outputs)
        if (!output.empty()) names[output] = fresh();
    FileGraph made = graph;
    made.values.clear();
    for (auto* values : {&made.inputs, &made.outputs})
      for (auto& value : *values) value.name = names.at(value.name);
    for (auto& tensor : made.initializers) tensor.name = names.at(tensor.name);
    for (FileNode& node : made.nodes) rename(node, names);
    return made;
  }

 private:
  void rename(FileNode& node, const std::map<std::string, std::string>& names) {
    node.name = m_dice.oneIn(6) ? std::string() : m_dice.of(hardTexts());
    for (auto* values : {&node.inputs, &node.outputs})
      for (std::string& value : *values)
        if (!value.empty()) value = names.at(value);
    for (auto& attribute : node.attributes)
      if (auto* body = std::get_if<std::shared_ptr<const FileGraph>>(&attribute.value))
        *body = std::make_shared<const FileGraph>(named(**body, names));
  }

  std::string fresh() { return fmt::format("{}{}{}", m_dice.of(hardTexts()), m_made++, m_dice.of(hardTexts())); }

  mutation::Dice& m_dice;
  int m_made = 0;
};

Result<std::shared_ptr<const Model>> read(std::shared_ptr<const Model> network, mutation::Dice& dice,
                                          const std::filesystem::path& path) {
  const auto plan = TRY(makePlan(std::move(network), {.target = "cpu"}));
  const CompilerInput handed = TRY(makeCompilerInput(plan, CompilerInputTypes::AsInFile, {}));
  onnxlib::FileModel file = handed.file;
  file.graph = Namer(dice).named(file.graph, {});
  TRY(writeFileAtomically(path, TRY(onnxlib::modelBytes(file))));
  return std::make_shared<const Model>(TRY(prepareModel(TRY(importModel(path)))));
}

}  // namespace

std::shared_ptr<const Model> readUnderHardNames(std::shared_ptr<const Model> network, mutation::Dice& dice,
                                                const std::filesystem::path& folder) {
  auto model = read(std::move(network), dice, folder / "network, of [hard] names.onnx");
  EXPECT_TRUE(model.ok()) << (model.ok() ? "" : model.error().text());
  return model.ok() ? std::move(model).value() : nullptr;
}

}  // namespace fusescope::property
