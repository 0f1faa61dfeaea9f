#pragma once

#include <map>
#include <string>
#include <string_view>

#include "compilers/compiler.h"
#include "compilers/probed/handed_network.h"
#include "probe/probe_job.h"

namespace fusescope {

// What compilers of the TensorRT family are asked through the probe, and what they answer there, whichever of them it
// is. `title`: what it is called in messages.

/// Null where `object` has no such member.
Json memberOf(const Json& object, const char* key);
/// Empty where it has none that is a text.
std::string textMember(const Json& object, const char* key);

/// Of the answer to `open`: the card that is there, the first of several; empty: there is none.
std::string nameOfCard(const Json& opened);

/// The text of the file `name` of an answer. Errors: it was not sent.
Result<std::string> fileText(const ProbeAnswer& answer, const char* name, std::string_view title);

/// {"min": …, "opt": …, "max": …} of each input of the file that has open extents.
Json extentsAsked(const HandedNetwork& network, const BuildOptions& options);

/// What the parser refuses. Of parts of the network that lie behind such a node it says nothing: they are asked for
/// when they are compiled, cut out. Errors: it refuses the network as a whole, or the answer is none.
Result<CompilerSupport> parserSupport(const HandedNetwork& network, const ProbeAnswer& answer, std::string_view title);

/// Milliseconds by the name of a kernel, the medians of the runs in profile.json. Of several layers of one name the
/// second is "NAME #2", as what was read back calls it.
Result<std::map<std::string, double>> kernelMedians(const HandedNetwork& network, const ProbeAnswer& profile,
                                                    std::string_view title);

/// The node that the first line of the error names which names exactly one; invalid: none does.
NodeId nodeOfFirstLine(const HandedNetwork& network, const Diagnostic& error);

}  // namespace fusescope
