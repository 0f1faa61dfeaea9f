#include <fmt/format.h>

#include <algorithm>

#include "base/regular_expression.h"
#include "base/text.h"
#include "interchange/python_text.h"
#include "interchange/recipes/python_values.h"
#include "interchange/recipes/recipe_pins.h"
#include "interchange/recipes/recipe_readers.h"
#include "interchange/recipes/shell_words.h"

namespace fusescope {
namespace {

using Values = std::map<std::string, PythonValue, std::less<>>;

std::string lowerCase(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return text;
}

/// The value of a name, in capitals or not.
const PythonValue* valueNamed(const Values& values, std::string_view name) {
  for (const auto& [known, value] : values)
    if (lowerCase(known) == name) return &value;
  return nullptr;
}

bool holdsTypes(const PythonValue& value) {
  return value.kind == PythonValue::Kind::Table && !value.entries.empty() &&
         std::ranges::all_of(value.entries, [](const auto& entry) {
           return entry.second.kind == PythonValue::Kind::Word && entry.second.text.find('.') != std::string::npos;
         });
}

/// The one name that `text` matches, if it is as exactExpression() writes it.
std::optional<std::string> nameOfExpression(std::string_view text) {
  constexpr std::string_view kEnd = "\\Z";
  if (!text.starts_with('^') || !text.ends_with(kEnd)) return std::nullopt;
  text.remove_prefix(1);
  text.remove_suffix(kEnd.size());
  std::string name;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && ++i == text.size()) return std::nullopt;
    name += text[i];
  }
  return exactExpression(name) == fmt::format("^{}{}", text, kEnd) ? std::optional(name) : std::nullopt;
}

/// Python's re.match asks for the beginning alone, and calls the very end `\Z`.
Result<RegularExpression> asMatched(std::string text) {
  for (std::size_t at = 0; at + 1 < text.size(); ++at) {
    if (text[at] != '\\') continue;
    if (text[at + 1] == 'Z') text[at + 1] = 'z';
    ++at;
  }
  TRY(RegularExpression::create(text));  // an error is of what the recipe has
  return RegularExpression::create("(?s:(?:" + text + "))(?s:.*)");
}

class PythonTables {
 public:
  PythonTables(std::string_view program, const Model& model, const RecipeOptions& options)
      : m_program(program), m_values(pythonValues(program)), m_pins(model, options) {}

  Result<Recipe> run() {
    const bool known = layerTables() || TRY(expressions("nodes_to_exclude", "options of ModelOpt's AutoCast")) ||
                       TRY(expressions("excluded_modules", "settings of Torch-TensorRT's autocast")) ||
                       TRY(expressions("autocast_excluded_nodes", "settings of Torch-TensorRT's autocast")) ||
                       blockLists() || openvino();
    if (!known)
      return Diagnostic{
          .message = "the script contains no table of layers in a known form; the script itself is not run",
          .help =
              "It must contain a table of names and types ({\"conv1\": trt.float32}), nodes_to_exclude, "
              "node_block_list, or what export wrote."};
    readCommand();
    m_pins.moveInto(m_recipe, m_strictness);
    return std::move(m_recipe);
  }

 private:
  /// {"conv1": trt.float32}, of outputs where the name of the table says so.
  bool layerTables() {
    bool found = false;
    for (const auto& [name, value] : m_values) {
      if (!holdsTypes(value)) continue;
      found = true;
      const bool outputs = lowerCase(name).find("output") != std::string::npos;
      for (const auto& [layer, type] : value.entries) {
        const std::string entry = fmt::format("{}[\"{}\"] = {}", name, layer, type.text);
        outputs ? m_pins.leaveOutputs(layer, {type.text}, entry) : m_pins.pinLayer(layer, type.text, entry);
      }
    }
    // The export writes both tables, and one of them or both may be empty.
    const PythonValue* precisions = valueNamed(m_values, "precisions");
    found = found || (precisions != nullptr && precisions->kind == PythonValue::Kind::Table);
    if (found) m_recipe.kind = "network script of Polygraphy";
    return found;
  }

  Result<bool> expressions(std::string_view variable, std::string kind) {
    const PythonValue* list = valueNamed(m_values, variable);
    if (list == nullptr || list->kind != PythonValue::Kind::List) return false;
    const bool modules = variable != "nodes_to_exclude";
    std::multimap<std::string, std::size_t> places;
    for (std::size_t i = 0; i < m_pins.calculatingNodes().size(); ++i) {
      const std::string& node = m_pins.calculatingNodes()[i];
      places.emplace(modules ? m_pins.moduleOfNode(node) : node, i);
    }
    for (const std::string& text : list->texts()) {
      const auto pin = [&](std::size_t index) { m_pins.pinNode(m_pins.calculatingNodes()[index], DataType::F32); };
      if (const auto name = nameOfExpression(text)) {  // it may be of a node that only hands floats on
        const auto [first, last] = places.equal_range(*name);
        for (auto place = first; place != last; ++place) pin(place->second);
        continue;
      }
      const RegularExpression expression = TRY(asMatched(text));
      bool matched = false;
      for (const auto& [name, index] : places) {
        if (!expression.matchesAll(name)) continue;
        matched = true;
        pin(index);
      }
      if (!matched) m_pins.refuse(text, "no node that calculates with floats matches it");
    }
    m_recipe.kind = std::move(kind);
    addLowType("low_precision_type");
    addLowType("autocast_low_precision_type");
    return true;
  }

  bool blockLists() {
    const PythonValue* nodes = valueNamed(m_values, "node_block_list");
    const PythonValue* operators = valueNamed(m_values, "op_block_list");
    const bool found = nodes != nullptr && nodes->kind == PythonValue::Kind::List;
    if (!found && (operators == nullptr || operators->kind != PythonValue::Kind::List)) return false;
    if (found)
      for (const std::string& name : nodes->texts())
        if (m_pins.calculates(name)) m_pins.pinNode(name, DataType::F32);
    if (operators != nullptr)
      for (const std::string& op : operators->texts())
        for (const std::string& node : m_pins.calculatingNodes())
          if (m_pins.operatorOf(node) == op) m_pins.pinNode(node, DataType::F32);
    m_recipe.kind = "block lists of onnxconverter-common";
    m_recipe.precisions = {DataType::F16};
    return true;
  }

  bool openvino() {
    const PythonValue* kept = valueNamed(m_values, "kept_values");
    if (kept == nullptr || kept->kind != PythonValue::Kind::List) return false;
    for (const std::string& value : kept->texts()) m_pins.pinMakerOf(value, DataType::F32);
    if (const PythonValue* ignored = valueNamed(m_values, "ignored_values");
        ignored != nullptr && !ignored->items.empty())
      m_pins.refuse("IGNORED_VALUES", "nodes that stay in floats beside int8 need ranges: give --ranges with pins");
    m_recipe.kind = "script for OpenVINO";
    addLowType("inference_precision");
    return true;
  }

  void addLowType(std::string_view variable) {
    const PythonValue* type = valueNamed(m_values, variable);
    if (type == nullptr) return;
    if (type->text.find("bf16") != std::string::npos || type->text.find("bfloat16") != std::string::npos)
      m_recipe.precisions = {DataType::BF16};
    else if (type->text.find("f16") != std::string::npos || type->text.find("fp16") != std::string::npos ||
             type->text.find("float16") != std::string::npos)
      m_recipe.precisions = {DataType::F16};
  }

  /// A Polygraphy script says in a comment how it is used: the builder's flags stand there.
  void readCommand() {
    const std::size_t start = m_program.find("polygraphy ");
    if (start == std::string_view::npos || m_recipe.kind != "network script of Polygraphy") return;
    const auto commands = shellCommands(m_program.substr(start, m_program.find('\n', start) - start));
    const std::vector<std::string> words = commands.empty() ? std::vector<std::string>() : commands.front();
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (words[i] == "--fp16") m_recipe.precisions.insert(m_recipe.precisions.begin(), DataType::F16);
      if (words[i] == "--bf16") m_recipe.precisions.push_back(DataType::BF16);
      if (words[i] == "--precision-constraints" && i + 1 < words.size() && words[i + 1] == "obey")
        m_strictness = Strictness::Obey;
    }
  }

  std::string_view m_program;
  Values m_values;
  RecipePins m_pins;
  Recipe m_recipe;
  Strictness m_strictness = Strictness::Prefer;
};

}  // namespace

Result<Recipe> readPythonTables(std::string_view program, const Model& model, const RecipeOptions& options) {
  return PythonTables(program, model, options).run();
}

}  // namespace fusescope
