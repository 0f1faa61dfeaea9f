#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "session/artifact.h"

namespace fusescope {

/// What a file says about an input of a network.
struct NetworkInput {
  InputSpec spec;
  TensorType type;      ///< the type in the file, in which open extents have their symbols
  std::string givenBy;  ///< for metadata, the source of the spec when it was written; otherwise empty
};
struct NetworkInputs {
  std::shared_ptr<const Model> model;
  std::vector<NetworkInput> inputs;
  std::map<std::string, Tensor> examples;  ///< the examples in the file
  std::string whyNoExamples;               ///< why there are no examples; empty if the file simply has none
};

/// Changes to descriptions of inputs, before anything is written.
struct InputEdits {
  std::vector<std::string> set;  ///< "x=1..8..32,3,224,224[:TYPE]"; the last one for an input is used
  std::filesystem::path from;    ///< a file to take them from: a network, plan, engine, session or recipe; empty: none
  std::vector<std::string>
      examples;  ///< files for `--inputs`, with one sample in total; empty: existing examples are kept
};

/// Reads the inputs of a model, a plan, an engine or a session, and applies `edits`. Errors: those of opening; extents
/// that the network does not have or that are not in order, located at the input.
Result<NetworkInputs> networkInputs(const std::filesystem::path& path, const InputEdits& edits = {},
                                    const StopToken& stop = {}, const Progress& progress = {});

/// Returns the same for a model that is open.
NetworkInputs networkInputs(std::shared_ptr<const Model> model);

/// Returns the example inputs of `edits`, checked against the inputs; nothing if it names none.
Result<std::optional<std::map<std::string, Tensor>>> givenExamples(const NetworkInputs& inputs, const InputEdits& edits,
                                                                   const StopToken& stop = {});

/// Writes the network of `inputs`, which must come from a model file, to `to`, with what is known, and not just
/// assumed, about its inputs. In an .onnx file this is stored as metadata, and replaces ranges that PyTorch's exporter
/// wrote; for an exported program of PyTorch see pt2_writer.h. `examples` are stored too; nothing: examples of the file
/// are kept. The rest of the file stays as it is for other programs. `to` is replaced atomically. Errors: `to` would
/// overwrite a file that the network is read from; there is nothing to write; the file contains metadata of a newer
/// version, which would be lost; a range that an exported program was not exported for; examples that are too large.
Status writeInputs(const NetworkInputs& inputs, const std::optional<std::map<std::string, Tensor>>& examples,
                   const std::filesystem::path& to, const StopToken& stop = {});

/// Returns {format "fusescope.inputs", version, model, kind, inputs[{name, type, dims[], min[], opt[], max[], source,
/// given_by}], examples[{name, type, dims[]}], why_no_examples, findings[{code, subject, message}], written}. `written`
/// may be empty.
Json toJson(const NetworkInputs& inputs, const std::string& written);

}  // namespace fusescope
