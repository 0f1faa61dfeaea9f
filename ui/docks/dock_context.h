#pragma once

#include <QPoint>
#include <functional>

#include "ui/document/file_diff.h"
#include "ui/document/known_plans.h"
#include "ui/document/plan_document.h"
#include "ui/document/run_controller.h"
#include "ui/document/runs.h"
#include "ui/document/selection.h"
#include "ui/jobs/job_runner.h"
#include "ui/theme/theme.h"

namespace fusescope {

/// What every dock and dialog gets. The window owns all of it and outlives them.
struct DockContext {
  PlanDocument& document;
  Selection& selection;
  JobRunner& jobs;
  Runs& runs;
  RunController& controller;
  FileDiff& fileDiff;
  KnownPlans& known;
  std::function<const Theme&()> theme;
  std::function<void(const char* action)> act;  ///< triggers an action of the window by its name (window/actions.h)
  std::function<void(const QPoint& globalPosition)> nodeMenu;  ///< shows the menu for the selected nodes
  std::function<void(const QString& name)> toggle;             ///< opens or closes something on the canvas
};

/// Selects what `name` refers to in the present plan, as a click on a name of a node does.
void goTo(const DockContext& context, const QString& name, const QObject* source = nullptr);

}  // namespace fusescope
