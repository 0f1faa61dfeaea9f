#pragma once

namespace fusescope::cli {

/// Gives the environment back the variables that were missing in it while the program was prepared. This is the first
/// thing in main().
void giveVariablesBack();

}  // namespace fusescope::cli
