#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "engine/engine.h"
#include "ir/graph.h"
#include "planning/plan.h"
#include "tests/support/paths.h"

namespace fusescope::testing {

using test::TemporaryFolder;

/// Each node by itself, as the reference does it, on one thread.
inline const BuildOptions kReference{.backend = "reference", .threads = 1, .measureTactics = false};

/// A model over a graph of the test's own: one origin for each node, InputSpecs from the input types (symbols 1..8).
std::shared_ptr<const Model> modelOf(GraphEditor& editor);
/// The same of the lines of a graph's text form.
std::shared_ptr<const Model> modelOfText(const std::string& lines);
std::shared_ptr<const Plan> planOf(const std::shared_ptr<const Model>& model, const PlanOptions& options = {});
std::shared_ptr<const Model> sampleModel(const std::string& sample);
std::unique_ptr<Engine> engineOf(const std::shared_ptr<const Plan>& plan, const BuildOptions& options);

Tensor floats(Dims dims, std::vector<float> values);
/// A float32 tensor of values in [-1, 1] that depend on `seed`.
Tensor noise(Dims dims, std::uint32_t seed);
TensorType f32(std::vector<Dim> dims);

/// Rows of one table [5, 4] by the inputs "first" and "second" [1], in the nodes "gather_first" and "gather_second".
std::shared_ptr<const Model> twoGathers();

/// x [batch, 4] · w [4, 4] + bias, Relu, + x: a network that fuses, splits and takes pins.
std::shared_ptr<const Model> smallNetwork();

}  // namespace fusescope::testing
