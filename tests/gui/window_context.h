#pragma once

#include "ui/docks/dock_context.h"
#include "ui/theme/theme.h"
#include "ui/window/main_window.h"

namespace fusescope::test {

/// What a dock or a dialog is given that a test opens by itself beside `window`.
inline DockContext contextOf(MainWindow& window) {
  return {window.document(),   window.selection(), window.jobs(),       window.runs(),
          window.controller(), window.fileDiff(),  window.knownPlans(), []() -> const Theme& { return Theme::dark(); }};
}

}  // namespace fusescope::test
