#include "backends/native/lowering/emitter.h"
#include "backends/native/lowering/tape_nodes.h"

namespace fusescope::native {
namespace {

Result<bool> queuePointwise(Context& context, const Node& node) {
  if (!isPointwise(context, node)) return false;
  context.queue(node.id);
  if (context.isUnfused()) TRY(context.flush());
  return true;
}

}  // namespace

extern const Emitter kPointwiseEmitter{.name = "pointwise", .queue = queuePointwise};

}  // namespace fusescope::native
