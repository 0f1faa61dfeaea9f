#pragma once

#include <memory>
#include <string>

#include "compilers/compiler.h"

namespace fusescope {

/// Returns the operator of a node, the types that it calculates in, reads and writes, and which of its inputs are
/// constants. What a compiler says about one node is expected of other nodes with the same form.
std::string formOf(const Plan& plan, NodeId node);

/// Returns the entry of an answer of Compiler::support() that names no node: with it, the compiler refuses the network
/// without saying because of which node. Null if there is none.
const NodeSupport* refusalOfNoNode(const CompilerSupport& support);

/// Returns an answer without such an entry: the nodes are refused because of which the compiler refuses the network.
/// `support` is its answer about `plan`; nodes that fall back there, or that `support` refuses by name, are not asked
/// about. The nodes are found by asking about parts of the network: halves of the nodes that are left, which are
/// divided by their form, and the halves of each half that is refused. All nodes of a form are refused together, with
/// the compiler's reason for them. If no smaller part is refused, all nodes are. At most 64 parts are asked about; what
/// is refused and could not be divided any more then falls back. Errors: the compiler could not be asked; cancellation.
Result<CompilerSupport> narrowedDown(const Compiler& compiler, const std::shared_ptr<const Plan>& plan,
                                     CompilerSupport support, const BuildOptions& asking);

}  // namespace fusescope
