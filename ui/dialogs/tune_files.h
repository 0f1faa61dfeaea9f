#pragma once

#include <QString>
#include <optional>
#include <string>

#include "session/tune_answer.h"
#include "session/worker_protocol.h"

namespace fusescope {

/// Returns the file in the session's `folder` in which a search with the options of `tune` stores its evaluations. It
/// is the same for all requests with the same errors, whatever their goal is. `model` is ModelFile::identity().
std::string tuneStateFile(const WorkerRequest& tune, const std::string& model, const QString& folder);
/// Returns the file in that folder with the answer to the latest such search. Its directives are ignored, because pins
/// that were applied from the answer are directives too.
std::string tuneAnswerFile(const WorkerRequest& tune, const std::string& model, const QString& folder);

/// Reads the worker's reply to a search, and stores it in `file` if possible. Errors name the field. This and the next
/// function are called off the GUI thread.
Result<TuneAnswer> keepTuneAnswer(const Json& reply, const std::string& file);
/// Returns the stored answer; nothing if there is none that can be read.
std::optional<TuneAnswer> keptTuneAnswer(const std::string& file);

/// Returns the options of an answer's search, which are without the pins that it found.
PlanOptions searchedOptions(const TuneAnswer& answer);
/// Returns these options with a set of the pins.
PlanOptions optionsWith(const TuneAnswer& answer, const std::vector<TunedPin>& pins);
/// A value in place of an index in an answer's front: the recommended set.
inline constexpr int kRecommended = -1;
/// Returns which of an answer's sets is applied in `options`; nothing: none of them.
std::optional<int> takenSet(const TuneAnswer& answer, const PlanOptions& options);
/// Returns whether both ask for the same plan. Ranges, and answers of a compiler, are ignored.
bool sameSearch(PlanOptions a, PlanOptions b);

}  // namespace fusescope
