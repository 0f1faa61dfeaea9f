#include "frontends/torch/torch_safety.h"

#include <algorithm>
#include <array>

#include "base/untrusted_json.h"
#include "frontends/torch/program_reader.h"

namespace fusescope::torch {
namespace {

/// The functions of SymPy and of torch.utils._sympy that an expression of extents may call.
constexpr std::array kFunctions = {"Abs",
                                   "Add",
                                   "And",
                                   "CeilDiv",
                                   "CeilToInt",
                                   "CleanDiv",
                                   "Eq",
                                   "Equality",
                                   "Float",
                                   "FloatPow",
                                   "FloatTrueDiv",
                                   "FloorDiv",
                                   "FloorToInt",
                                   "Ge",
                                   "GreaterThan",
                                   "Gt",
                                   "Identity",
                                   "IntTrueDiv",
                                   "Integer",
                                   "IsNonOverlappingAndDenseIndicator",
                                   "LShift",
                                   "Le",
                                   "LessThan",
                                   "Lt",
                                   "Max",
                                   "Min",
                                   "Mod",
                                   "ModularIndexing",
                                   "Mul",
                                   "Ne",
                                   "Not",
                                   "Or",
                                   "Pow",
                                   "PowByNatural",
                                   "PythonMod",
                                   "RShift",
                                   "Rational",
                                   "RoundDecimal",
                                   "RoundToInt",
                                   "StrictGreaterThan",
                                   "StrictLessThan",
                                   "Symbol",
                                   "ToFloat",
                                   "TruncToFloat",
                                   "TruncToInt",
                                   "Unequality",
                                   "Where",
                                   "ceiling",
                                   "floor"};

/// The containers in which inputs and outputs may be, with PyTorch's names.
constexpr std::array<std::string_view, 6> kContainers = {"builtins.tuple",
                                                         "builtins.list",
                                                         "builtins.dict",
                                                         "collections.OrderedDict",
                                                         "torch.fx.immutable_collections.immutable_list",
                                                         "torch.fx.immutable_collections.immutable_dict"};

constexpr std::string_view kDigits = "0123456789";
constexpr std::string_view kOfNames = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";

bool isOf(std::string_view all, char each) {
  return all.find(each) != std::string_view::npos;
}

/// Reads the longest beginning of `text` that consists of characters of `all`.
std::string_view taken(std::string_view& text, std::string_view all) {
  const std::string_view begin = text.substr(0, std::min(text.find_first_not_of(all), text.size()));
  text.remove_prefix(begin.size());
  return begin;
}

/// Reads a fraction after a number. A name there would be an attribute.
bool takeFraction(std::string_view& text) {
  if (!text.starts_with('.')) return true;
  text.remove_prefix(1);
  return taken(text, kOfNames).find_first_not_of(kDigits) == std::string_view::npos;
}

/// Reads 'name' or '-1.5'.
bool takeQuoted(std::string_view& text) {
  text.remove_prefix(1);
  while (!text.empty() && (isOf(kOfNames, text.front()) || isOf("+-.", text.front()))) text.remove_prefix(1);
  if (!text.starts_with('\'')) return false;
  text.remove_prefix(1);
  return true;
}

/// Returns the first text under "expr_str" anywhere in `json` that is not harmless, or null.
const Json* harmfulIn(const Json& json) {
  for (const auto& [key, value] : json.items()) {
    const bool isExpression = json.is_object() && key == "expr_str" && value.is_string();
    if (isExpression && !isHarmlessExpression(value.get_ref<const std::string&>())) return &value;
    if (!value.is_structured()) continue;
    if (const Json* harmful = harmfulIn(value)) return harmful;
  }
  return nullptr;
}

/// Returns whether `json` describes containers that PyTorch makes without importing something that the file names.
bool isHarmlessTree(const Json& json) {
  if (json.is_array()) return std::ranges::all_of(json, isHarmlessTree);  // a version and the tree, or parts of it
  if (!json.is_object()) return true;
  for (const auto& [key, value] : json.items()) {
    const std::string text = value.is_string() ? value.get<std::string>() : std::string();
    if (key == "type" && !value.is_null() && std::ranges::find(kContainers, text) == kContainers.end()) return false;
    if (key == "context" && !value.is_null() && (!value.is_string() || text.find('{') != std::string::npos))
      return false;
    if (value.is_structured() && !isHarmlessTree(value)) return false;
  }
  return true;
}

/// Returns the first text under "in_spec" or "out_spec" anywhere in `json` that is not harmless, or null.
const Json* harmfulTreeIn(const Json& json) {
  for (const auto& [key, value] : json.items()) {
    const bool isTree = json.is_object() && (key == "in_spec" || key == "out_spec") && value.is_string();
    if (isTree && !value.get_ref<const std::string&>().empty()) {
      const Json tree = untrustedJson(value.get_ref<const std::string&>());
      if (tree.is_discarded() || !isHarmlessTree(tree)) return &value;
    }
    if (!value.is_structured()) continue;
    if (const Json* harmful = harmfulTreeIn(value)) return harmful;
  }
  return nullptr;
}

Status checkTexts(const std::string& program) {
  const Json json = TRY(programJsonOf(program));
  if (const Json* harmful = harmfulIn(json))
    return Diagnostic{.message = "an extent is the expression " + harmful->dump() +
                                 ", which PyTorch would evaluate as a program; it is not passed to torch"};
  if (const Json* harmful = harmfulTreeIn(json))
    return Diagnostic{.message =
                          "its inputs or outputs are in containers for which PyTorch would import what the file "
                          "names, " +
                          harmful->dump() + "; it is not passed to torch"};
  return Done{};
}

}  // namespace

bool isHarmlessExpression(std::string_view text) {
  constexpr std::string_view kOperators = "(), +-*/%<>=&|~!";
  char last = ' ';  // the last character before this, except blanks
  while (!text.empty()) {
    if (text.front() == '(' && isOf(")'", last)) return false;  // a call of the result of a call
    if (text.front() != ' ') last = text.front();
    if (text.front() == '\'') {
      if (!takeQuoted(text)) return false;
    } else if (isOf(kOfNames, text.front())) {
      const std::string_view name = taken(text, kOfNames);
      const bool isNumber = isOf(kDigits, name.front());
      if (isNumber && (name.find_first_not_of(kDigits) != std::string_view::npos || !takeFraction(text))) return false;
      const bool isCalled = text.substr(std::min(text.find_first_not_of(' '), text.size())).starts_with('(');
      const bool isKnown = std::ranges::find(kFunctions, name) != kFunctions.end();
      if (name.starts_with("__") || (isCalled && !isKnown)) return false;
    } else if (!isOf(kOperators, text.front())) {
      return false;
    } else {
      text.remove_prefix(1);
    }
  }
  return true;
}

Status checkForTorch(const Pt2File& file) {
  TRY(file.checkMembersKnown());
  return checkTexts(TRY(file.programJson()));
}

}  // namespace fusescope::torch
