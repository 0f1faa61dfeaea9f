#pragma once

#include <QPushButton>
#include <functional>

#include "session/command_line.h"
#include "ui/docks/dock_context.h"

namespace fusescope {

/// Makes a command line from values that it contains. It is called off the GUI thread, because ranges may be long. An
/// empty function means that there is nothing for a command to do now.
using CommandWork = std::function<Result<CommandLine>()>;

// These return the commands that do what the window does, with the present plan, inputs and settings. GUI thread only.

CommandWork planCommandOf(const DockContext& context);      ///< prints the displayed plan
CommandWork originalCommandOf(const DockContext& context);  ///< prints the fates of the file's nodes in it
CommandWork explainCommandOf(const DockContext& context, const std::string& node);  ///< explains a node of it
CommandWork buildCommandOf(const DockContext& context);                             ///< builds and times it
CommandWork buildBothCommandOf(const DockContext& context);  ///< also builds the baseline, evaluates the plan, and
                                                             ///< compares both
/// Returns the command that made a run: a build that was timed, an engine file that was timed, or a comparison.
CommandWork runCommandOf(const DockContext& context, const Run& run);
/// Returns the command that evaluates the displayed run.
CommandWork evaluateCommandOf(const DockContext& context);
/// Returns the command that measures the errors of each layer of the displayed plan.
CommandWork errorsCommandOf(const DockContext& context);
/// Returns the command that finds out which extents of the settings' inputs get a specialised engine in the displayed
/// run.
CommandWork specialiseCommandOf(const DockContext& context);
/// Returns the command that compares two runs; an engine that is not stored any more is built first.
CommandWork compareCommandOf(const DockContext& context, const Run* a, const Run* b);
CommandWork importCommandOf(const DockContext& context);  ///< makes the open exported program runnable
CommandWork diffCommandOf(const DockContext& context);    ///< does what Compare the plan with a file does
/// Returns the command for a request to the worker; see commandFor() for `more`.
CommandWork requestCommand(const WorkerRequest& request, const std::vector<std::string>& more = {});

/// Copies the line to the clipboard when it is made and the files that it reads are written, and shows a message in the
/// status bar of the window of `near`, or beside `near` in a dialog. If there is no command, the message says why.
void copyCommand(const DockContext& context, QWidget& near, const CommandWork& work);
/// Makes a button "Copy as command" for a dialog.
QPushButton* copyCommandButton(const DockContext& context, const std::function<CommandWork()>& work);

}  // namespace fusescope
