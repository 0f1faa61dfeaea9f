#pragma once

#include <filesystem>
#include <memory>

#include "ir/model.h"
#include "tests/mutation/dice.h"

namespace fusescope::property {

/// A random network as the file of somebody who calls nodes and values what is hard to tell apart, to print or to part
/// into words: commas, brackets, line ends, blanks, numbers as compilers are handed them; nodes, in bodies too, also
/// have no name, or one for several. Read from that file, which stays in `folder`, and prepared; null: it could not be.
std::shared_ptr<const Model> readUnderHardNames(std::shared_ptr<const Model> network, mutation::Dice& dice,
                                                const std::filesystem::path& folder);

}  // namespace fusescope::property
