#include "ui/dialogs/tune_state.h"

#include <QDateTime>
#include <QDir>
#include <QFileInfo>

#include "base/hash.h"
#include "planning/plan_json.h"
#include "session/options_json.h"
#include "ui/document/qt_text.h"
#include "ui/document/session_folder.h"

namespace fusescope {

std::string tuneStateFile(const WorkerRequest& tune, const std::string& model, const QString& folder) {
  PlanOptions options = tune.source.options;
  const auto ranges = std::exchange(options.ranges, nullptr);  // their text may be long
  KeyBuilder key;
  key.text(model).text(toJson(options).dump()).text(ranges ? ranges->contentHash().hex() : std::string());
  key.text(toJson(tune.source.inputs).dump());
  key.text(tune.source.backend).number(tune.threads).text(tune.tune.output).text(tune.tune.metric);
  key.text(toJson(tune.inputs).dump());
  for (const std::string& path : tune.inputs.paths) {  // a file that was written anew is another
    const QFileInfo file(qs(path));
    key.number(file.size()).number(file.lastModified().toMSecsSinceEpoch());
  }
  return QDir(folder).filePath(tuneStateName(key.hash())).toStdString();
}

}  // namespace fusescope
