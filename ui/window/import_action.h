#pragma once

#include <QString>

namespace fusescope {

class MainWindow;

/// Why torch has no network to make of what is open; empty: it may.
QString makeRunnableRefusal(MainWindow& window);
/// Has the first torch that is found make a network of the exported program that is open (makeNetwork()), off the GUI
/// thread, and opens that in its place. What comes of it, and how it is cancelled, is said in the bar of messages.
void makeRunnable(MainWindow& window);
void cancelMakingRunnable(MainWindow& window);

/// Where what is open is an exported program without a network: says what opens, and offers to have one made. Of any
/// other model, or while one is made, nothing.
void offerToMakeRunnable(MainWindow& window);
/// What was said of the program that was open before, and its work, end.
void forgetProgram(MainWindow& window);

/// Runs are made on the inputs that the network was exported with, if the .pt2 holds some and no others were given.
void takeExampleInputs(MainWindow& window);

}  // namespace fusescope
