#include "frontends/torch/program_arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "frontends/torch/element_types.h"
#include "frontends/torch/schema_fields.h"

namespace fusescope::torch {
namespace {

/// Returns a double as an attribute, which is a float. A number that is not a float is kept as its text.
Attribute numberAttribute(double number) {
  const auto narrow = static_cast<float>(number);
  if (std::isfinite(number) && !std::isfinite(narrow)) return fmt::format("{}", number);
  return narrow;
}

std::string truth(bool value) {
  return value ? "True" : "False";
}

std::string layoutName(std::int64_t number) {
  constexpr std::array kNames{"unknown",    "sparse_coo", "sparse_csr", "sparse_csc",
                              "sparse_bsr", "sparse_bsc", "mkldnn",     "strided"};
  return number >= 0 && number < std::int64_t{kNames.size()} ? kNames[static_cast<std::size_t>(number)]
                                                             : fmt::format("layout {}", number);
}

std::string memoryFormatName(std::int64_t number) {
  constexpr std::array kNames{"unknown", "contiguous_format", "channels_last", "channels_last_3d", "preserve_format"};
  return number >= 0 && number < std::int64_t{kNames.size()} ? kNames[static_cast<std::size_t>(number)]
                                                             : fmt::format("memory format {}", number);
}

std::string elementTypeName(std::int64_t number) {
  const std::string_view known = nameOfNumber(number);
  return known.empty() ? fmt::format("type {}", number) : std::string(known);
}

std::string deviceName(const Json& device) {
  const auto index = integerAt(device, "index");
  return textOr(device, "type", "unknown") + (index ? fmt::format(":{}", *index) : std::string());
}

/// An element of a list: {"as_name": "s"} is a value, and {"as_int": 4} a number as text; {"as_tensor": {"name": "x"}},
/// {"as_none": true} and {"name": "x"} occur too.
struct Element {
  std::string value;
  std::string text;
};

Result<Element> elementOf(const Json& json) {
  if (json.is_object() && json.contains("name")) return Element{.value = TRY(textField(json, "name"))};
  const UnionValue given = TRY(unionOf(json));
  if (given.kind == "as_none") return Element{};
  if (given.kind == "as_name" && given.value->is_string()) return Element{.value = given.value->get<std::string>()};
  if (given.value->is_object()) return Element{.value = TRY(textField(*given.value, "name"))};
  return Element{.text = given.value->is_boolean() ? truth(given.value->get<bool>()) : given.value->dump()};
}

Result<std::vector<Element>> elementsOf(const UnionValue& given) {
  if (!given.value->is_array()) return std::vector{TRY(elementOf(*given.value))};
  std::vector<Element> all;
  for (const Json& element : *given.value) {
    if (!element.is_array()) {
      all.push_back(TRY(elementOf(element)));
      continue;
    }
    for (const Json& inner : element) all.push_back(TRY(elementOf(inner)));
  }
  return all;
}

bool holdsValues(const std::string& kind) {
  static const std::vector<std::string> kKinds{
      "as_tensor",   "as_tensors",  "as_optional_tensor", "as_optional_tensors", "as_nested_tensors", "as_sym_int",
      "as_sym_ints", "as_sym_bool", "as_sym_bools",       "as_sym_float",        "as_sym_floats",     "as_custom_obj"};
  return std::ranges::find(kKinds, kind) != kKinds.end();
}

/// Reads values; if a list mixes them with numbers, its text is kept too.
Status readValues(const UnionValue& given, ProgramArgument& argument) {
  bool mixes = false;
  std::vector<std::string> texts;
  for (const Element& element : TRY(elementsOf(given))) {
    if (element.text.empty()) argument.reads.push_back(element.value);
    mixes = mixes || !element.text.empty();
    texts.push_back(!element.text.empty() ? element.text : element.value.empty() ? "None" : element.value);
  }
  if (mixes) argument.literal = given.value->is_array() ? Attribute(texts) : Attribute(texts.front());
  return Done{};
}

template <class T>
std::optional<std::vector<T>> listOf(const Json& json, bool (Json::*is)() const noexcept) {
  if (!json.is_array()) return std::nullopt;
  std::vector<T> all;
  for (const Json& element : json) {
    if (!(element.*is)()) return std::nullopt;
    all.push_back(element.get<T>());
  }
  return all;
}

/// Returns a literal, or nothing if its type does not match its kind or the kind is unknown.
std::optional<Attribute> literalOf(const std::string& kind, const Json& value) {
  if (kind == "as_int" && value.is_number_integer()) return value.get<std::int64_t>();
  if (kind == "as_float" && value.is_number()) return numberAttribute(value.get<double>());
  if (kind == "as_bool" && value.is_boolean()) return truth(value.get<bool>());
  if (kind == "as_scalar_type" && value.is_number_integer()) return elementTypeName(value.get<std::int64_t>());
  if (kind == "as_layout" && value.is_number_integer()) return layoutName(value.get<std::int64_t>());
  if (kind == "as_memory_format" && value.is_number_integer()) return memoryFormatName(value.get<std::int64_t>());
  if (kind == "as_device") return deviceName(value);
  if (value.is_string()) return value.get<std::string>();
  if (kind == "as_ints")
    if (auto all = listOf<std::int64_t>(value, &Json::is_number_integer)) return std::move(*all);
  if (kind == "as_strings")
    if (auto all = listOf<std::string>(value, &Json::is_string)) return std::move(*all);
  if (kind == "as_floats")
    if (auto all = listOf<float>(value, &Json::is_number)) return std::move(*all);
  return std::nullopt;
}

}  // namespace

Result<ProgramArgument> argumentOf(const Json& json, const ReadBody& body) {
  ProgramArgument argument{.name = TRY(textField(json, "name"))};
  const UnionValue given = TRY(unionOf(*TRY(field(json, "arg"))));
  if (given.kind == "as_none") return argument;
  if (given.kind == "as_graph") {
    argument.body = TRY(body(*TRY(objectField(*given.value, "graph"))));
  } else if (holdsValues(given.kind)) {
    TRY(readValues(given, argument));
  } else {
    argument.literal = literalOf(given.kind, *given.value);
    if (!argument.literal) argument.literal = given.value->dump();
  }
  return argument;
}

Result<std::vector<std::string>> valuesOf(const Json& argument) {
  const UnionValue given = TRY(unionOf(argument));
  if (!holdsValues(given.kind)) return std::vector<std::string>{""};
  std::vector<std::string> values;
  for (const Element& element : TRY(elementsOf(given))) values.push_back(element.value);
  return values;
}

}  // namespace fusescope::torch
