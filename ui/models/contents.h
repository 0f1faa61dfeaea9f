#pragma once

#include "base/json.h"
#include "session/session.h"
#include "ui/document/plan_snapshot.h"
#include "ui/models/table_model.h"

namespace fusescope {

// The simple tables as values. Pure functions, so that a test needs no window.

/// Casts of a plan and in its bodies: value, from, to, where, bytes, why.
TableContent castsContent(const PlanSnapshot& snapshot);
/// Layers of a `time --json --per-layer` report, slowest first, with a bar for the share of the total. Those in
/// bodies, all calls together, are rows of their own and parts of their holder's.
TableContent profileContent(const Json& time);
/// Groups of a `compare --json` report, largest difference first.
TableContent compareContent(const Json& comparison);
/// `outputs` and `values` of a comparison or an error report, and how many values in bodies are not compared.
TableContent errorsContent(const Json& report);

/// A number of a report, or nothing where it is null.
std::optional<double> numberIn(const Json& object, const char* key);
/// A range of a `compare` report, or nothing where it is null.
std::optional<Range> rangeIn(const Json& object, const char* key);
/// A text of a report; empty where it is null.
std::string textIn(const Json& object, const char* key);

}  // namespace fusescope
