#pragma once

#include <optional>
#include <string>

#include "session/documents/layer_error_report.h"
#include "session/inputs/samples.h"
#include "tuning/wide_fixes.h"

namespace fusescope {

/// Advice on which nodes to pin, because a network first becomes wrong near them.
struct Advice {
  std::string value;   ///< the value that is wrong
  Directives pins;     ///< empty: no helpful pins were found
  std::string effect;  ///< the effect of the pins on the plan, for people
  std::string tried;   ///< the result of a run with the pins, for people; empty: it was not tried because it would take
                       ///< too long
  bool operator==(const Advice&) const = default;
};

/// Returns the fewest pins that help near the place where `report`, of `plan` on `samples`, first becomes wrong. The
/// pins are planned and, if that is fast, run; then only helpful pins are returned. Returns nothing if the report is
/// not wrong or no output is affected. The result for the same plan and samples is the same on every machine. There is
/// no advice for another compiler, because only that compiler knows the effect of a pin. Errors: those of planning and
/// running.
Result<std::optional<Advice>> adviceAbout(const LayerErrorReport& report, const std::shared_ptr<const Plan>& plan,
                                          const Samples& samples, const LayerErrorOptions& options,
                                          ErrorsAgainst against);
/// Returns the same for `value`; `harm` says what is wrong with it.
Result<Advice> adviceAbout(const std::string& value, Harm harm, const std::shared_ptr<const Plan>& plan,
                           const Samples& samples, const LayerErrorOptions& options, ErrorsAgainst against);
/// Returns whether trying pins, and measuring errors layer by layer, is fast, judged by the amount of calculation.
bool quickToTry(const Plan& plan, const Samples& samples);

/// Returns {value, pins[…], effect, tried}, or null.
Json toJson(const std::optional<Advice>& advice);
Result<Advice> adviceFromJson(const Json& json);  ///< errors name the field

}  // namespace fusescope
