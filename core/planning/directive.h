#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/data_type.h"
#include "base/json_fwd.h"
#include "base/result.h"
#include "ir/cause.h"

namespace fusescope {

/// The kinds of directives, as listed in planning/directives/kinds.inc. The DirectiveForm of each describes it.
enum class DirectiveKind : std::uint8_t {
#define DIRECTIVE_KIND(NAME) NAME,
#include "planning/directives/kinds.inc"
#undef DIRECTIVE_KIND
};
enum class Strictness { Prefer, Obey };
enum class TruncateMode { None, Long, Double, All };
/// Which of the types that a target lacks are narrowed, separately for inputs (and everything that nodes compute from
/// them) and for constants.
struct TruncateModes {
  TruncateMode inputs = TruncateMode::Long, constants = TruncateMode::Long;
  static TruncateModes both(TruncateMode mode) { return {mode, mode}; }
  bool operator==(const TruncateModes&) const = default;
};
std::string_view name(Strictness strictness);  ///< "prefer", "obey"
std::string_view name(TruncateMode mode);      ///< "none", "long", "double", "all"

/// One request of the user. It is a small value that is saved, undone and compared. Which fields are used depends on
/// the form of its kind.
struct Directive {
  std::string id;  ///< unique in its list: "1", "2", … unless the file gives another
  DirectiveKind kind = DirectiveKind::Pin;
  /// For Pin, PinOutput, Fallback, Split, NoFuse (empty: everywhere) and Tactic; see match_pattern.h.
  std::string pattern;
  DataType type = DataType::Undefined;         ///< for Pin and PinOutput
  Strictness strictness = Strictness::Prefer;  ///< for Pin and PinOutput
  std::string rule;                            ///< the fusion rule of a NoFuse; the tactic of a Tactic
  TruncateMode truncate = TruncateMode::Long;  ///< for Truncate, TruncateInputs and TruncateConstants
  std::int64_t number = 0;                     ///< for MinSegment
  std::string note;                            ///< the user's own words, which are never interpreted
  bool operator==(const Directive&) const = default;
};
using Directives = std::vector<Directive>;

// These functions parse the arguments of command line options. Errors say what is wrong with them.
Result<Directive> parsePin(std::string_view text);         ///< "node_linear_1=f32:obey"
Result<Directive> parseOutputType(std::string_view text);  ///< "NAME=f32:obey"
Result<Directive> parseNoFuse(std::string_view text);      ///< "RULE[@NODE]"
Directive fallbackDirective(std::string pattern);
Directive splitDirective(std::string node);
Directive minSegmentDirective(std::int64_t number);
Result<Directive> parseTruncate(std::string_view text);  ///< "none|long|double|all"
Result<Directive> parseTruncateInputs(std::string_view text);
Result<Directive> parseTruncateConstants(std::string_view text);
/// Gives a number as the id to each directive that has none; ids remain unique.
void assignIds(Directives& directives);

/// Returns the directive as the cause of what it decides; the text of the cause is "pin:3".
Cause causeOf(const Directive& directive);
/// Returns the directive as it is written on the command line: "--pin PATTERN=TYPE:obey". If the command line has no
/// option for it, it is described in words.
std::string optionText(const Directive& directive);
/// Returns the text for lists and for undo: "pin node_linear_1 to f32 (obey)".
std::string inWords(const Directive& directive);
/// Returns whether the directive asks for the type in which something is calculated or stored.
bool asksForAType(const Directive& directive);

/// Converts between the list of directives and a directives file (directives_file.h) with nothing else in it. Plans and
/// engines store the list in this form, beside their other options.
Json toJson(const Directives& directives);
Result<Directives> directivesFromJson(const Json& json);

/// Returns a type of `--precision`, or of `precision` in a file, by its name. Errors are located at `where`.
Result<DataType> precisionType(std::string_view text, std::string_view where);

}  // namespace fusescope
