#pragma once

#include <QSize>
#include <QString>
#include <QStringList>
#include <optional>

#include "planning/plan.h"
#include "session/inputs/sample_source.h"
#include "ui/theme/theme.h"

namespace fusescope {

class MainWindow;

/// The options of `fusescope-gui … --screenshot`.
struct PictureRequest {
  QString model;  ///< empty: the start page
  PlanOptions options;
  QString output;
  QSize size{1440, 900};
  QStringList expand;
  QString select, dock;
  QString color;  ///< the name of a ColorMode; empty: the default
  SampleSource inputs;
  bool build = false;     ///< builds and compares both engines
  bool errors = false;    ///< measures errors layer by layer
  bool twoViews = false;  ///< shows the two plans that are usually compared
  bool original = false;  ///< shows two views: the network of the file, and the plan
};

/// Renders the window when everything is ready. Returns 0 if the picture was written, and 2 if the model or the options
/// are invalid, which standard error describes. It runs the event loop meanwhile.
int takePicture(MainWindow& window, const PictureRequest& request);

}  // namespace fusescope
