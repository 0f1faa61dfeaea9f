#pragma once

#include <QString>

namespace fusescope {

class MainWindow;

/// Returns why torch cannot make a network of what is open; empty if it may be able to.
QString makeRunnableRefusal(MainWindow& window);
/// Lets the first torch that is found make a network of the open exported program (makeNetwork()), off the GUI thread,
/// and opens that in its place. The result, and how to cancel, is shown in the bar of messages.
void makeRunnable(MainWindow& window);
void cancelMakingRunnable(MainWindow& window);

/// If an exported program without a network is open, shows a message that offers to make one. Does nothing for any
/// other model, or while one is being made.
void offerToMakeRunnable(MainWindow& window);
/// Ends the message and the work of the program that was open before.
void forgetProgram(MainWindow& window);

/// Sets the inputs of runs to the inputs with which the network was exported, if the .pt2 contains them and no others
/// were given.
void takeExampleInputs(MainWindow& window);

}  // namespace fusescope
