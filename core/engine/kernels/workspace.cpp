#include "engine/kernels/workspace.h"

namespace fusescope {

Diagnostic tooLittleWorkspace(const std::string& node, std::int64_t least, std::int64_t limit) {
  const std::string needed = std::to_string(least);
  return {
      .message = "needs at least " + needed + " bytes of scratch memory; --workspace allows " + std::to_string(limit),
      .where = {.node = node, .attribute = "--workspace"},
      .help = "Give --workspace " + needed + " or more, or leave it out: then there is no limit."};
}

}  // namespace fusescope
