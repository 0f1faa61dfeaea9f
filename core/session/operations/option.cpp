#include "session/operations/option.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/files.h"
#include "base/json_fields.h"
#include "base/text.h"

namespace fusescope {
namespace {

template <class... Functions>
struct ByType : Functions... {
  using Functions::operator()...;
};
template <class... Functions>
ByType(Functions...) -> ByType<Functions...>;

bool isWholeNumber(const OptionValue& value) {
  return std::holds_alternative<int*>(value) || std::holds_alternative<std::int64_t*>(value) ||
         std::holds_alternative<std::uint64_t*>(value) || std::holds_alternative<std::optional<std::int64_t>*>(value);
}
bool isNumber(const OptionValue& value) {
  return isWholeNumber(value) || std::holds_alternative<double*>(value) ||
         std::holds_alternative<std::optional<double>*>(value);
}

/// Returns the present value of an option; null if it is not given.
Json valueJson(const Option& option) {
  return std::visit(
      ByType{[](bool* flag) { return Json(*flag); }, [](const NegatedFlag& flag) { return Json(!*flag.value); },
             [](double* number) { return jsonNumber(*number); },
             [](std::optional<double>* number) { return *number ? jsonNumber(**number) : Json(nullptr); },
             [](std::optional<std::int64_t>* number) { return *number ? Json(**number) : Json(nullptr); },
             [&](const ChoiceValue& choice) { return Json(option.choices[choice.get()]); },
             [](auto* value) { return Json(*value); }},
      option.value);
}

std::string rangeProblem(const OptionRange& range, double number, const std::string& text) {
  const bool fits = (range.excludesLeast ? number > range.least : number >= range.least) && number <= range.most;
  return fits ? std::string() : fmt::format("{} must be {}", text, inWords(range));
}

/// std::from_chars() does not accept a plus sign.
const char* afterPlus(const std::string& text) {
  return text.data() + (text.size() > 1 && text.front() == '+' && text[1] != '-' ? 1 : 0);
}

std::string wholeNumberProblem(const OptionRange& range, const std::string& text) {
  std::int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(afterPlus(text), end, number);
  if (read.ec == std::errc::result_out_of_range) return text + " is too large";
  if (read.ec != std::errc() || read.ptr != end) return "'" + text + "' is not a whole number";
  return rangeProblem(range, static_cast<double>(number), text);
}

std::string numberProblem(const OptionRange& range, const std::string& text) {
  double number = 0;
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(afterPlus(text), end, number);
  if (read.ec != std::errc() || read.ptr != end || text.empty()) return "'" + text + "' is not a number";
  if (!std::isfinite(number)) return text + " must be finite";
  return rangeProblem(range, number, text);
}

/// Sets the option from JSON. Errors name the field.
Status setFromJson(const Option& option, const Json& json, const std::string& key) {
  JsonFields fields(json);
  const char* field = key.c_str();
  std::visit(ByType{[&](const NegatedFlag& flag) {
                      bool given = !*flag.value;
                      fields.read(field, given);
                      *flag.value = !given;
                    },
                    [&](double* number) { fields.readNumber(field, *number); },
                    [&](std::optional<double>* number) { fields.readNumber(field, *number); },
                    [&](std::optional<std::int64_t>* number) { fields.readCount(field, *number); },
                    [&](const ChoiceValue& choice) {
                      const std::vector<std::string_view> names(option.choices.begin(), option.choices.end());
                      std::size_t index = choice.get();
                      fields.readName(field, names, index);
                      choice.set(index);
                    },
                    [&](auto* value) { fields.read(field, *value); }},
             option.value);
  return fields.error() ? Status(*fields.error()) : Status(Done{});
}

/// A value that looks like an option is joined to its own option.
void addWords(const Option& option, const std::string& value, std::vector<std::string>& words) {
  const std::string name = "--" + option.name;
  if (value.starts_with("-")) return words.push_back(name + "=" + value);
  words.push_back(name);
  words.push_back(option.isPath ? absolutePath(value) : value);
}

}  // namespace

std::string Option::key() const {
  if (!field.empty()) return field;
  std::string key = name;
  std::ranges::replace(key, '-', '_');
  std::ranges::transform(key, key.begin(),
                         [](char letter) { return letter >= 'A' && letter <= 'Z' ? letter + 32 : letter; });
  return key;
}

std::string Option::usualInWords() const {
  if (!usual.empty()) return usual;
  if (isNumber(value)) {
    const Json json = valueJson(*this);
    if (!json.is_number() || json.get<double>() == 0) return {};  // 0 means "not given"
    return json.is_number_float() ? fmt::format("{}", json.get<double>()) : json.dump();
  }
  if (std::holds_alternative<ChoiceValue>(value)) return valueJson(*this).get<std::string>();
  if (const auto* text = std::get_if<std::string*>(&value)) return **text;
  return {};
}

const Option& optionNamed(const std::vector<Option>& options, std::string_view name) {
  return *std::ranges::find(options, name, &Option::name);
}

std::string inWords(const OptionRange& range) {
  const bool hasLeast = std::isfinite(range.least), hasMost = std::isfinite(range.most);
  if (hasLeast && hasMost && range.excludesLeast)
    return fmt::format("more than {}, at most {}", range.least, range.most);
  if (hasLeast && hasMost) return fmt::format("between {} and {}", range.least, range.most);
  if (hasMost) return fmt::format("at most {}", range.most);
  if (!hasLeast) return {};
  return range.excludesLeast ? fmt::format("more than {}", range.least) : fmt::format("{} or more", range.least);
}

std::string whyNotAccepted(const Option& option, const std::string& text) {
  if (isWholeNumber(option.value)) return wholeNumberProblem(option.range, text);
  if (isNumber(option.value)) return numberProblem(option.range, text);
  if (option.choices.empty() || std::ranges::find(option.choices, text) != option.choices.end()) return {};
  return fmt::format("'{}' is none of {}", text, joined(option.choices));
}

Json toJson(const std::vector<Option>& options, const std::vector<Option>& usual) {
  Json json = Json::object();
  for (std::size_t i = 0; i < options.size(); ++i)
    if (Json value = valueJson(options[i]); value != valueJson(usual[i])) json[options[i].key()] = std::move(value);
  return json;
}

Status readOptions(const Json& json, const std::vector<Option>& options) {
  for (const Option& option : options) {
    const std::string key = option.key();
    const Json before = valueJson(option);
    TRY(setFromJson(option, json, key));
    const Json value = valueJson(option);
    if (value == before) continue;
    const bool isText = value.is_string() && !value.get_ref<const std::string&>().empty();
    if (!value.is_number() && !isText) continue;
    const std::string problem = whyNotAccepted(option, isText ? value.get<std::string>() : value.dump());
    if (!problem.empty()) return Diagnostic{.message = problem, .where = {.attribute = key}};
  }
  return Done{};
}

std::vector<std::string> commandWords(const std::vector<Option>& options, const std::vector<Option>& usual) {
  std::vector<std::string> words;
  for (std::size_t i = 0; i < options.size(); ++i) {
    const Option& option = options[i];
    const Json value = valueJson(option);
    if (option.isPositional() || value == valueJson(usual[i])) continue;
    if (value.is_boolean()) {
      if (value.get<bool>()) words.push_back("--" + option.name);
    } else if (value.is_array()) {
      for (const Json& each : value) addWords(option, each.get<std::string>(), words);
    } else if (value.is_string()) {
      addWords(option, value.get<std::string>(), words);
    } else if (value.is_number_float()) {
      addWords(option, fmt::format("{}", value.get<double>()), words);
    } else if (!value.is_null()) {
      addWords(option, value.dump(), words);
    }
  }
  return words;
}

}  // namespace fusescope
