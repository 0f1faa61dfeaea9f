#pragma once

#include <QPushButton>
#include <functional>

#include "session/command_line.h"
#include "ui/docks/dock_context.h"

namespace fusescope {

/// Makes a command line from values that it holds: it is called off the GUI thread, for ranges are long. Empty: there
/// is nothing that a command could do now.
using CommandWork = std::function<Result<CommandLine>()>;

// What the window does, as commands that do the same with the plan, inputs and settings of now. GUI thread.

CommandWork planCommandOf(const DockContext& context);      ///< the plan on screen
CommandWork originalCommandOf(const DockContext& context);  ///< what became of the nodes of the file in it
CommandWork explainCommandOf(const DockContext& context, const std::string& node);  ///< a node of it
CommandWork buildCommandOf(const DockContext& context);                             ///< builds it and times it
CommandWork buildBothCommandOf(const DockContext& context);  ///< and the baseline; evaluates it, and compares both
/// What made a run: a build that was timed, an engine file that was timed, or a comparison.
CommandWork runCommandOf(const DockContext& context, const Run& run);
/// Evaluates the shown run.
CommandWork evaluateCommandOf(const DockContext& context);
/// Evaluates the plan on screen layer by layer.
CommandWork errorsCommandOf(const DockContext& context);
/// Finds out which extents of the settings' inputs get an engine of their own in the shown run.
CommandWork specialiseCommandOf(const DockContext& context);
/// Compares two runs; of an engine that is no longer kept it is built first.
CommandWork compareCommandOf(const DockContext& context, const Run* a, const Run* b);
CommandWork importCommandOf(const DockContext& context);  ///< makes the exported program that is open runnable
CommandWork diffCommandOf(const DockContext& context);    ///< what Compare the plan with a file does
/// The same as a request to the worker; `more` as in commandFor().
CommandWork requestCommand(const WorkerRequest& request, const std::vector<std::string>& more = {});

/// Puts the line on the clipboard, once it is made and the files that it reads are written, and says so: in the status
/// bar of the window of `near`, or beside `near` in a dialog. Says why where there is none.
void copyCommand(const DockContext& context, QWidget& near, const CommandWork& work);
/// "Copy as command" for a dialog.
QPushButton* copyCommandButton(const DockContext& context, const std::function<CommandWork()>& work);

}  // namespace fusescope
