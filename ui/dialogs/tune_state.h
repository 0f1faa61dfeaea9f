#pragma once

#include <QString>
#include <optional>
#include <string>

#include "session/tune_answer.h"
#include "session/worker_protocol.h"

namespace fusescope {

/// The file in the session's `folder` where a search with the wishes of `tune` keeps what it evaluates: the same for
/// requests whose errors are the same numbers, whatever they are to reach. `model`: ModelFile::identity().
std::string tuneStateFile(const WorkerRequest& tune, const std::string& model, const QString& folder);
/// The file there where the answer to the newest such search is kept, whatever its directives were: pins that are taken
/// from the answer are directives, too.
std::string tuneAnswerFile(const WorkerRequest& tune, const std::string& model, const QString& folder);

/// What the worker replied to a search, which is kept in `file` as well where that can be written. Errors name the
/// field. Called off the GUI thread, as the next one.
Result<TuneAnswer> keepTuneAnswer(const Json& reply, const std::string& file);
/// What is kept there; nothing: there is none that can be read.
std::optional<TuneAnswer> keptTuneAnswer(const std::string& file);

/// What an answer's search was given: its options without pins.
PlanOptions searchedOptions(const TuneAnswer& answer);
/// The same with a set of its pins.
PlanOptions optionsWith(const TuneAnswer& answer, const std::vector<TunedPin>& pins);
/// A place in an answer's front, or none of these: the set that it recommends.
inline constexpr int kRecommended = -1;
/// Which of an answer's sets is taken in `options`; nothing: none of them.
std::optional<int> takenSet(const TuneAnswer& answer, const PlanOptions& options);
/// Whether both ask for the same plan. What ranges they have, and what a compiler answered, is left aside.
bool sameSearch(PlanOptions a, PlanOptions b);

}  // namespace fusescope
