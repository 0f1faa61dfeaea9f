#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/data_type.h"
#include "base/json.h"
#include "base/result.h"
#include "ir/cause.h"

namespace fusescope {

/// The kinds of planning/directives/kinds.inc; what each is stands in its DirectiveForm.
enum class DirectiveKind : std::uint8_t {
#define DIRECTIVE_KIND(NAME) NAME,
#include "planning/directives/kinds.inc"
#undef DIRECTIVE_KIND
};
enum class Strictness { Prefer, Obey };
enum class TruncateMode { None, Long, Double, All };
/// What is narrowed of the types that a target lacks: in inputs and in what nodes make of them, and in constants.
struct TruncateModes {
  TruncateMode inputs = TruncateMode::Long, constants = TruncateMode::Long;
  static TruncateModes both(TruncateMode mode) { return {mode, mode}; }
  bool operator==(const TruncateModes&) const = default;
};
std::string_view name(Strictness strictness);  ///< "prefer", "obey"
std::string_view name(TruncateMode mode);      ///< "none", "long", "double", "all"

/// One wish of the user. A small value: serialised, undone, compared. Which fields count depends on its kind's form.
struct Directive {
  std::string id;  ///< unique in its list; "1", "2", … unless the file says otherwise
  DirectiveKind kind = DirectiveKind::Pin;
  std::string pattern;  ///< Pin, PinOutput, Fallback, Split, NoFuse (empty: everywhere), Tactic; see match_pattern.h
  DataType type = DataType::Undefined;         ///< Pin, PinOutput
  Strictness strictness = Strictness::Prefer;  ///< Pin, PinOutput
  std::string rule;                            ///< NoFuse: the fusion rule; Tactic: the tactic
  TruncateMode truncate = TruncateMode::Long;  ///< Truncate, TruncateInputs, TruncateConstants
  std::int64_t number = 0;                     ///< MinSegment
  std::string note;                            ///< the user's own words; never interpreted
  bool operator==(const Directive&) const = default;
};
using Directives = std::vector<Directive>;

// What stands behind options of the command line. Errors say what is wrong.
Result<Directive> parsePin(std::string_view text);         ///< "node_linear_1=f32:obey"
Result<Directive> parseOutputType(std::string_view text);  ///< same form
Result<Directive> parseNoFuse(std::string_view text);      ///< "RULE[@NODE]"
Directive fallbackDirective(std::string pattern);
Directive splitDirective(std::string node);
Directive minSegmentDirective(std::int64_t number);
Result<Directive> parseTruncate(std::string_view text);  ///< "none|long|double|all"
Result<Directive> parseTruncateInputs(std::string_view text);
Result<Directive> parseTruncateConstants(std::string_view text);
/// Numbers the directives that have no id, keeping ids unique.
void assignIds(Directives& directives);

/// The directive as the cause of what it decides; its text is "pin:3".
Cause causeOf(const Directive& directive);
/// How a directive is written on the command line: "--pin PATTERN=TYPE:obey"; in words where it has no option.
std::string optionText(const Directive& directive);
/// For lists and undo texts: "pin node_linear_1 to f32 (obey)".
std::string inWords(const Directive& directive);
/// Whether it asks for the type that something is calculated or stored in.
bool asksForAType(const Directive& directive);

/// A directives file with the list alone (see directives_file.h), as plans and engines hold it beside their other
/// options.
Json toJson(const Directives& directives);
Result<Directives> directivesFromJson(const Json& json);

/// A type of `--precision` and of a file's `precision`, by its name. Errors are located at `where`.
Result<DataType> precisionType(std::string_view text, std::string_view where);

}  // namespace fusescope
