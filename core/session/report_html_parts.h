#pragma once

#include "session/report_tables.h"

namespace fusescope {

// What reports of one run and of a difference are both made of: HTML of parts of a report's JSON.

std::string reportText(const Json& json, const char* key);  ///< escaped; empty where there is none
std::optional<double> reportNumber(const Json& json, const char* key);
std::vector<std::string> reportNames(const Json& list);  ///< escaped
std::string reportSomeNames(const Json& list);           ///< the first, and how many more there are
ReportCell reportTimeCell(const Json& ms);
ReportCell reportNumberCell(const std::string& html, const Json& value);
/// In the colour of what it says: "good", "bad", "warn", "dim", "less", "more".
std::string reportToned(const char* tone, const std::string& html);
std::string reportVerdict(const Json& verdict);
std::string reportTimed(const Json& time);
/// A table of what each side is of; several have headings.
std::string reportFacts(const std::vector<const Json*>& sides, const std::vector<std::string>& headings);
std::string reportPicture(const std::string& svg);  ///< empty without one
/// All that a report of a difference says.
std::string reportOfDifference(const Json& report, const std::string& svg);

}  // namespace fusescope
