#include "tests/golden/golden_case.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "base/files.h"
#include "calibration/ranges.h"
#include "passes/pipelines.h"
#include "planning/directives/directive_form.h"

namespace fusescope::test {
namespace {

/// "VALUE=LOW..HIGH": what was seen there.
void addRange(const std::string& text, PlanOptions& options) {
  const std::size_t equals = text.find('='), dots = text.find("..", equals);
  ASSERT_NE(dots, std::string::npos) << text;
  Ranges ranges = options.ranges != nullptr ? *options.ranges : Ranges();
  ranges.edges[text.substr(0, equals)] = {{std::stod(text.substr(equals + 1)), std::stod(text.substr(dots + 2))}};
  options.ranges = std::make_shared<const Ranges>(std::move(ranges));
}

void addOption(const std::string& option, const std::string& value, PlanOptions& options) {
  if (option == "--precision") {
    const auto type = dataTypeFromName(value);
    ASSERT_TRUE(type.has_value()) << value;
    options.precisions.push_back(*type);
    return;
  }
  if (option == "--range") return addRange(value, options);
  const auto& forms = directiveForms();
  const auto form = std::ranges::find_if(forms, [&](const DirectiveForm* each) { return each->option == option; });
  ASSERT_NE(form, forms.end()) << "no such option in a golden case: " << option;
  auto directive = (*form)->parse(value);
  ASSERT_TRUE(directive.ok()) << directive.error().text();
  options.directives.push_back(std::move(directive).value());
}

std::string pathOf(const std::string& folder, const std::string& name) {
  return goldenFolder(folder) + name + ".txt";
}

}  // namespace

std::string goldenFolder(const std::string& folder) {
  return std::string(FUSESCOPE_SOURCE_DIR) + "/tests/golden/" + folder + "/";
}

std::vector<std::string> goldenNames(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(goldenFolder(folder)))
    if (entry.path().extension() == ".txt") names.push_back(entry.path().stem().string());
  std::ranges::sort(names);
  return names;
}

std::vector<std::string> words(const std::string& line) {
  std::istringstream stream(line);
  std::vector<std::string> all;
  for (std::string word; stream >> word;) all.push_back(word);
  return all;
}

GoldenText readGolden(const std::string& folder, const std::string& name) {
  const auto text = readTextFile(pathOf(folder, name));
  EXPECT_TRUE(text.ok()) << name;
  if (!text.ok()) return {};
  const std::string& all = text.value();
  const std::size_t end = all.find("\n---\n");
  GoldenText golden{.head = all.substr(0, end == std::string::npos ? all.size() : end + 1), .expected = {}};
  if (end != std::string::npos) golden.expected = all.substr(end + 5);
  return golden;
}

void expectGolden(const std::string& folder, const std::string& name, const GoldenText& golden,
                  const std::string& text) {
  if (std::getenv("UPDATE_GOLDEN") != nullptr) {
    ASSERT_TRUE(writeFileAtomically(pathOf(folder, name), std::string_view(golden.head + "---\n" + text)).ok());
    GTEST_SKIP() << "written";
  }
  EXPECT_EQ(text, golden.expected);
}

PlanOptions readOptions(const std::vector<std::string>& words) {
  PlanOptions options;
  EXPECT_EQ(words.size() % 2, 1U) << "a target, then options with a value each";
  if (words.empty()) return options;
  options.target = words[0];
  for (std::size_t i = 1; i + 1 < words.size(); i += 2) addOption(words[i], words[i + 1], options);
  return options;
}

Result<Model> modelOfText(const std::string& name, const std::string& text) {
  std::string network;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (!line.starts_with("#")) network += line + "\n";
  const auto graph = TRY(parseGraph(network));
  Model model;
  model.path = name;
  model.contentHash = hashText(network);
  GraphEditor editor(*graph);
  for (const NodeId id : graph->order()) {
    const Node& node = graph->node(id);
    editor.mutableNode(id).origins = {OriginId(model.origins.size())};
    model.origins.push_back({node.name, node.op, node.domain});
  }
  model.graph = TRY(editor.publish());
  for (const ValueId id : model.graph->inputs()) {
    const Value& value = model.graph->value(id);
    InputSpec spec{.name = value.name, .dtype = value.type.dtype, .source = "file"};
    for (const Dim& dim : value.type.shape.dims) {
      spec.min.push_back(dim.known() ? dim.size : 1);
      spec.max.push_back(dim.known() ? dim.size : 64);
    }
    spec.opt = spec.max;
    model.inputSpecs.push_back(std::move(spec));
  }
  return prepareModel(std::move(model));
}

}  // namespace fusescope::test
