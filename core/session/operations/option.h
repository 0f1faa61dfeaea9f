#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace fusescope {

/// The numbers that an option accepts.
struct OptionRange {
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
  bool excludesLeast = false;  ///< the number must be larger than `least`
};
constexpr OptionRange kAboveZero{.least = 0, .excludesLeast = true};
constexpr OptionRange kZeroOrMore{.least = 0};

/// A value that is one of Option::choices, read and written by its index there.
struct ChoiceValue {
  std::function<std::size_t()> get;
  std::function<void(std::size_t)> set;
};
/// Returns the choice that sets an enumeration whose values are the indices of Option::choices.
template <class Enum>
ChoiceValue choiceOf(Enum& value) {
  return {[&value] { return static_cast<std::size_t>(value); },
          [&value](std::size_t index) { value = static_cast<Enum>(index); }};
}

/// A flag that sets the value to false.
struct NegatedFlag {
  bool* value;
};

/// Where the value of an option is kept. An optional number is nothing, and a text or list is empty, if the option is
/// not given.
using OptionValue =
    std::variant<bool*, NegatedFlag, int*, std::int64_t*, std::uint64_t*, double*, std::optional<std::int64_t>*,
                 std::optional<double>*, std::string*, std::vector<std::string>*, ChoiceValue>;

/// One option of an operation: the command line, its --help, docs/commands.md, the requests of the worker and the
/// dialogs of the window are all made of this description.
struct Option {
  std::string name;      ///< "max-error"; a positional argument has a name in capitals: "MODEL"
  OptionValue value;     ///< points into the settings that the option belongs to
  std::string argument;  ///< the placeholder of the value in help texts: "SECONDS"; empty for flags and for choices
  std::string help;      ///< whole sentences
  OptionRange range{};   ///< of a number
  std::vector<std::string> choices{};   ///< all values that a text or a ChoiceValue may have; empty: any
  std::string usual{};                  ///< the default in words, if the default cannot be read from the value
  char letter = 0;                      ///< "-o" beside "--output"
  bool isRequired = false;              ///< by the command line
  bool isOnce = false;                  ///< a list that may be given once only
  std::string needs{};                  ///< the option without which this one has no meaning
  std::vector<std::string> excludes{};  ///< options that cannot be given together with this one
  bool isPath = false;                  ///< the value names files or folders that are read
  std::string field{};                  ///< its name in JSON; empty: "max_error" for "max-error"

  bool isPositional() const { return !name.empty() && name.front() >= 'A' && name.front() <= 'Z'; }
  /// Returns the name of the option in JSON.
  std::string key() const;
  /// Returns the default for people: "0.5", "mse"; empty if the option has none.
  std::string usualInWords() const;
};

/// Returns the options of a default-constructed `Settings`: for their names, ranges, defaults and help texts.
/// Thread-safe.
template <class Settings>
const std::vector<Option>& usualOptions() {
  static Settings usual;
  static const std::vector<Option> options = usual.options();
  return options;
}

/// Returns the option with this name, which must be among them.
const Option& optionNamed(const std::vector<Option>& options, std::string_view name);
template <class Settings>
const Option& usualOption(std::string_view name) {
  return optionNamed(usualOptions<Settings>(), name);
}

/// "more than 0", "between 50 and 100"; empty if all numbers are accepted.
std::string inWords(const OptionRange& range);
/// Returns why `text` cannot be the value of `option`, as the predicate of a sentence: "-1 must be 0 or more"; empty if
/// it can. This does not check whether a file exists.
std::string whyNotAccepted(const Option& option, const std::string& text);

/// Returns {key: value} of the options whose values are not those of `usual`, which are the same options in the same
/// order.
Json toJson(const std::vector<Option>& options, const std::vector<Option>& usual);
template <class Settings>
Json settingsJson(Settings settings) {
  return toJson(settings.options(), usualOptions<Settings>());
}
/// Sets the options that `json`, an object, has; the others keep their values. Unknown fields are ignored. Errors name
/// the field: it has the wrong type, or a value that the option does not accept. The value that an option has
/// already is accepted in any case: it means that the option was not given.
Status readOptions(const Json& json, const std::vector<Option>& options);
template <class Settings>
Result<Settings> settingsFromJson(const Json& json) {
  Settings settings;
  TRY(readOptions(json, settings.options()));
  return settings;
}

/// Returns the words of a command line that give the options whose values are not those of `usual` (the same options in
/// the same order), without quotes; positional arguments are left out. Paths of what is read become absolute.
std::vector<std::string> commandWords(const std::vector<Option>& options, const std::vector<Option>& usual);
template <class Settings>
std::vector<std::string> commandWords(Settings settings) {
  return commandWords(settings.options(), usualOptions<Settings>());
}

}  // namespace fusescope
