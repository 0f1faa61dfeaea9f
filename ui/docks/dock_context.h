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

/// What every dock and dialog is given. The window owns it all and outlives them.
struct DockContext {
  PlanDocument& document;
  Selection& selection;
  JobRunner& jobs;
  Runs& runs;
  RunController& controller;
  FileDiff& fileDiff;
  KnownPlans& known;
  std::function<const Theme&()> theme;
  std::function<void(const char* action)> act;  ///< an action of the window, by its name (window/actions.h)
  std::function<void(const QPoint& globalPosition)> nodeMenu;  ///< what can be done to what is selected
  std::function<void(const QString& name)> toggle;             ///< opens or closes it on the canvas
};

/// Selects what `name` stands for in the present plan: what a click on any mention of a node does.
void goTo(const DockContext& context, const QString& name, const QObject* source = nullptr);

}  // namespace fusescope
