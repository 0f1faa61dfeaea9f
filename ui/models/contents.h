#pragma once

#include "base/json.h"
#include "session/session.h"
#include "ui/document/plan_snapshot.h"
#include "ui/models/table_model.h"

namespace fusescope {

// The simple tables as values. Pure functions, so that a test needs no window.

/// Casts of a plan and in its bodies: value, from, to, where, bytes, why.
TableContent castsContent(const PlanSnapshot& snapshot);
/// Groups of a `compare --json` report, largest difference first.
TableContent compareContent(const Json& comparison);
/// Errors of outputs and of values inside. Those beyond their tolerance are marked.
TableContent errorsContent(const std::vector<TensorComparison>& outputs, const std::vector<TensorComparison>& values);
/// The same of a `compare --json` report, and how many values in bodies are not compared.
TableContent errorsContent(const Json& comparison);

/// A number of a report, or nothing where it is null.
std::optional<double> numberIn(const Json& object, const char* key);
/// A range of a `compare` report, or nothing where it is null.
std::optional<Range> rangeIn(const Json& object, const char* key);
/// A text of a report; empty where it is null.
std::string textIn(const Json& object, const char* key);

}  // namespace fusescope
