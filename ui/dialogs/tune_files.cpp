#include "ui/dialogs/tune_files.h"

#include <QDateTime>
#include <QDir>
#include <QFileInfo>
#include <algorithm>
#include <utility>

#include "base/files.h"
#include "base/hash.h"
#include "planning/plan_options_json.h"
#include "planning/same_plan_options.h"
#include "session/options_json.h"
#include "ui/document/qt_text.h"
#include "ui/document/session_folder.h"

namespace fusescope {

namespace {

Hash128 keyOf(const WorkerRequest& tune, const std::string& model) {
  PlanOptions options = tune.source.options;
  // The key contains their hash, because their text may be long.
  const auto ranges = std::exchange(options.ranges, nullptr);
  const TuneSettings& settings = std::get<TuneSettings>(tune.settings);
  KeyBuilder key;
  key.text(model).text(toJson(options).dump()).text(ranges ? ranges->contentHash().hex() : std::string());
  key.text(toJson(tune.source.inputs).dump());
  key.text(tune.source.backend).number(tune.threads).text(settings.of).text(settings.metric);
  key.text(toJson(tune.inputs).dump());
  for (const std::string& path : tune.inputs.paths) {  // a file that was written again counts as another file
    const QFileInfo file(qs(path));
    key.number(file.size()).number(file.lastModified().toMSecsSinceEpoch());
  }
  return key.hash();
}

}  // namespace

std::string tuneStateFile(const WorkerRequest& tune, const std::string& model, const QString& folder) {
  return QDir(folder).filePath(tuneStateName(keyOf(tune, model))).toStdString();
}

std::string tuneAnswerFile(const WorkerRequest& tune, const std::string& model, const QString& folder) {
  WorkerRequest any = tune;
  any.source.options.directives.clear();
  return QDir(folder).filePath(tuneAnswerName(keyOf(any, model))).toStdString();
}

Result<TuneAnswer> keepTuneAnswer(const Json& reply, const std::string& file) {
  TuneAnswer answer = TRY(tuneAnswerFromJson(reply));
  (void)writeFileAtomically(file, reply.dump());  // without the file, the search starts from the beginning next time
  return answer;
}

std::optional<TuneAnswer> keptTuneAnswer(const std::string& file) {
  const auto text = readTextFile(file);
  if (!text.ok()) return {};
  const auto answer = tuneAnswerFromJson(Json::parse(text.value(), nullptr, false));
  return answer.ok() ? std::optional(answer.value()) : std::nullopt;
}

PlanOptions searchedOptions(const TuneAnswer& answer) {
  PlanOptions options = answer.options;  // the recommended pins follow the directives that existed before
  options.directives.resize(options.directives.size() - std::min(answer.pins.size(), options.directives.size()));
  return options;
}

PlanOptions optionsWith(const TuneAnswer& answer, const std::vector<TunedPin>& pins) {
  if (pins == answer.pins) return answer.options;
  PlanOptions options = searchedOptions(answer);
  for (const TunedPin& pin : pins)
    options.directives.push_back({.pattern = pin.node,
                                  .type = dataTypeFromName(pin.type).value_or(DataType::F32),
                                  .note = "chosen among the sets that tune evaluated"});
  return options;
}

std::optional<int> takenSet(const TuneAnswer& answer, const PlanOptions& options) {
  const auto taken = [&](const std::vector<TunedPin>& pins) {
    return !pins.empty() && sameSearch(optionsWith(answer, pins), options);
  };
  if (taken(answer.pins)) return kRecommended;
  for (std::size_t i = 0; i < answer.front.size(); ++i)
    if (taken(answer.front[i].set)) return static_cast<int>(i);
  return {};
}

bool sameSearch(PlanOptions a, PlanOptions b) {
  for (PlanOptions* options : {&a, &b}) {
    options->ranges = nullptr;
    options->support = nullptr;
  }
  return askForSamePlan(a, b);
}

}  // namespace fusescope
