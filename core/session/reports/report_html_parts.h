#pragma once

#include "base/json_fwd.h"
#include "session/reports/report_tables.h"

namespace fusescope {

// These make HTML from parts of a report's JSON, for reports on one run and on a difference.

std::string reportText(const Json& json, const char* key);  ///< escaped; empty if it is missing
std::optional<double> reportNumber(const Json& json, const char* key);
std::vector<std::string> reportNames(const Json& list);  ///< escaped
std::string reportSomeNames(const Json& list);           ///< the first few, and the number of others
ReportCell reportTimeCell(const Json& ms);
ReportCell reportNumberCell(const std::string& html, const Json& value);
/// Colours HTML by meaning: "good", "bad", "warn", "dim", "less", "more".
std::string reportToned(const char* tone, const std::string& html);
std::string reportVerdict(const Json& verdict);
std::string reportTimed(const Json& time);
/// Returns a table of the facts about each side; if there are several sides, they have headings.
std::string reportFacts(const std::vector<const Json*>& sides, const std::vector<std::string>& headings);
std::string reportPicture(const std::string& svg);  ///< empty if there is no picture

}  // namespace fusescope
