#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/stop.h"
#include "interchange/network_part.h"
#include "ir/model.h"
#include "onnxlib/edited_network.h"
#include "planning/plan.h"

namespace fusescope {

/// Types of values by name, as a part declares them.
using ValueTypes = std::map<std::string, TensorType>;

/// Cuts parts out of the file from which a plan was made. Nodes, their names, operators, opsets, bodies, functions and
/// weights are copied unchanged. It is not thread-safe, and keeps the model of the plan alive.
class NetworkCutter {
 public:
  /// Reads the file again. Errors: those of sourceNetwork() and of reading.
  static Result<NetworkCutter> open(const Plan& plan, const StopToken& stop);

  const FileValues& values() const { return *m_values; }
  const Model& model() const { return *m_model; }  ///< the prepared model before anything was quantised
  const std::filesystem::path& source() const { return m_source; }
  PartFacts facts() const;
  /// Returns the name of a node of the file in the network.
  const std::string& nodeName(std::size_t node) const { return m_model->origins[node].name; }
  std::vector<std::string> nodeNames(const std::set<std::size_t>& nodes) const;
  /// Returns the type of an input of the network, with the extents that the user gave; nothing if `value` is not an
  /// input.
  std::optional<TensorType> inputType(const std::string& value) const;

  /// Returns `part` as a separate network; if its weights are in a file beside it, that file is called `weightsName`.
  /// `types` contains the types of its inputs, and of outputs whose types are declared; `specs` contains the extents of
  /// inputs with open extents. Errors: a constant without data; those of editing.
  Result<onnxlib::NetworkBytes> cut(const NetworkPart& part, const ValueTypes& types,
                                    const std::vector<InputSpec>& specs, const std::string& weightsName) const;

 private:
  NetworkCutter() = default;
  std::filesystem::path m_source;
  std::shared_ptr<const Model> m_model;
  std::shared_ptr<const onnxlib::FileModel> m_file;
  std::shared_ptr<const FileValues> m_values;
  std::vector<char> m_isRepresented;  ///< by node of the file: some node of the prepared graph represents it
};

}  // namespace fusescope
