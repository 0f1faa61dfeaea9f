#pragma once

#include <map>
#include <string>
#include <string_view>

#include "compilers/compiler.h"
#include "compilers/probed/compiler_input.h"
#include "probe/probe_job.h"

namespace fusescope {

// Questions and answers that all compilers of the TensorRT family share. `title` is the name of the compiler in
// messages.

/// Returns a member of `object`; null if there is none.
Json memberOf(const Json& object, const char* key);
/// Returns a member that is a text; empty if there is none.
std::string textMember(const Json& object, const char* key);

/// Returns the name of the first card in the answer to `open`; empty if there is none.
std::string nameOfCard(const Json& opened);

/// Returns the text of the file `name` of an answer. Errors: it was not sent.
Result<std::string> fileText(const ProbeAnswer& answer, const char* name, std::string_view title);

/// Returns {"min": …, "opt": …, "max": …} for each input of the file with open extents.
Json extentsAsked(const CompilerInput& network, const BuildOptions& options);

/// Returns which nodes the parser refuses. It says nothing about parts of the network behind such a node; they are
/// checked when they are compiled separately. If it refuses the network without naming a node, the first entry has no
/// name (refusalOfNoNode()). Errors: the answer is invalid.
Result<CompilerSupport> parserSupport(const CompilerInput& network, const ProbeAnswer& answer, std::string_view title);

/// Returns the milliseconds of each kernel by name, as medians of the runs in profile.json. The second of several
/// layers with the same name is "NAME #2", as in the read-back plan.
Result<std::map<std::string, double>> kernelMedians(const CompilerInput& network, const ProbeAnswer& profile,
                                                    std::string_view title);

/// Returns the node in the first line of the error that names exactly one; an invalid id if no line does.
NodeId nodeOfFirstLine(const CompilerInput& network, const Diagnostic& error);

}  // namespace fusescope
