#pragma once

#include <QSize>
#include <QString>
#include <QStringList>
#include <optional>

#include "planning/plan.h"
#include "session/sample_source.h"
#include "ui/theme/theme.h"

namespace fusescope {

class MainWindow;

/// What `fusescope-gui … --screenshot` is asked for.
struct PictureRequest {
  QString model;  ///< empty: the start page
  PlanOptions options;
  QString output;
  QSize size{1440, 900};
  QStringList expand;
  QString select, dock;
  QString color;  ///< a ColorMode's name; empty: as windows begin
  SampleSource inputs;
  bool build = false;     ///< both engines, compared
  bool errors = false;    ///< of each layer
  bool twoViews = false;  ///< of the two plans that are usually compared
  bool original = false;  ///< two views: the network as it lies in its file, and the plan
};

/// Renders the real window once all is there. 0: written; 2: the model or the picture's wishes are bad, said on
/// standard error. Runs the event loop meanwhile.
int takePicture(MainWindow& window, const PictureRequest& request);

}  // namespace fusescope
