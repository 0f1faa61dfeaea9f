#pragma once

#include <optional>
#include <string>

#include "session/layer_error_report.h"
#include "session/samples.h"
#include "tuning/wide_fixes.h"

namespace fusescope {

/// What to pin about where a network first goes wrong.
struct Advice {
  std::string value;   ///< that goes wrong
  Directives pins;     ///< empty: none was found that does something about it
  std::string effect;  ///< of them on the plan, for people
  std::string tried;   ///< what a run with them gave, for people; empty: none was made, for it would take long
  bool operator==(const Advice&) const = default;
};

/// The fewest pins around where `report`, of `plan` on `samples`, first goes wrong that do something about it: they are
/// planned, and where that is quick, run, and then only what mends it is given. Nothing: it does not go wrong, or harms
/// no output. The same for the same plan and samples on every machine. Of another compiler nothing is advised: what a
/// pin does there it alone can tell. Errors: those of planning and running.
Result<std::optional<Advice>> adviceAbout(const LayerErrorReport& report, const std::shared_ptr<const Plan>& plan,
                                          const Samples& samples, const LayerErrorOptions& options,
                                          ErrorsAgainst against);
/// The same about `value`, of which is known what is wrong.
Result<Advice> adviceAbout(const std::string& value, Harm harm, const std::shared_ptr<const Plan>& plan,
                           const Samples& samples, const LayerErrorOptions& options, ErrorsAgainst against);
/// Whether trying pins, and errors layer by layer, are quick: by how much there is to calculate.
bool quickToTry(const Plan& plan, const Samples& samples);

/// {value, pins[…], effect, tried}, or null.
Json toJson(const std::optional<Advice>& advice);
Result<Advice> adviceFromJson(const Json& json);  ///< errors name the field

}  // namespace fusescope
