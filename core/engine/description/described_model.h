#pragma once

#include <memory>
#include <string>

#include "base/part_hashes.h"
#include "engine/description/weight_blob.h"
#include "ir/model.h"

namespace fusescope {

/// A model as an engine file contains it.
struct DescribedModel {
  std::shared_ptr<const Model> model;
  std::string text;  ///< the JSON of modelToJson()
  WeightBlobWriter weights;
};

/// While it exists, this process is going to write an engine file, so that describeAhead() does something. Its
/// destructor ends what that does.
class EngineFileExpected {
 public:
  EngineFileExpected();
  ~EngineFileExpected();
  EngineFileExpected(const EngineFileExpected&) = delete;
  EngineFileExpected& operator=(const EngineFileExpected&) = delete;

 private:
  PartHashesWanted m_hashes;  ///< of the weights: the file contains them
};

/// Starts to describe `model` on a thread of its own, while the caller waits for something else: all weights are read
/// for their hashes. It does nothing if no engine file is expected, and for very large models. One model is described
/// at a time; the one before it is forgotten. Thread-safe.
void describeAhead(std::shared_ptr<const Model> model);

/// Waits until what describeAhead() started is finished, which disturbs what is measured meanwhile. Thread-safe.
void awaitDescription();

/// Returns the description of `model`: the one that was made ahead, once, or a new one. Throws Json::exception if a
/// name or an attribute is not valid text. Thread-safe.
DescribedModel describedModel(const std::shared_ptr<const Model>& model);

}  // namespace fusescope
