#include "engine/description/described_model.h"

#include <future>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "base/json.h"
#include "engine/description/model_io.h"

namespace fusescope {
namespace {

/// Whoever cancels waits until the weight that is being read is read: of more bytes than this they may lie on a disk.
constexpr std::int64_t kMostBytesAhead = std::int64_t{1} << 30;

DescribedModel describe(std::shared_ptr<const Model> model, const StopToken& stop) {
  WeightBlobWriter weights(stop, model->files);
  DescribedModel described{.model = std::move(model), .text = {}, .weights = std::move(weights)};
  described.text = modelToJson(*described.model, described.weights).dump();
  return described;
}

/// The model that is described ahead. Its destructor stops that, and waits until it has stopped.
struct Ahead {
  std::shared_ptr<const Model> model;
  std::future<DescribedModel> described;
  std::jthread thread;
};

struct DescribedAhead {
  std::mutex mutex;
  int expected = 0;  ///< engine files
  std::optional<Ahead> ahead;
};

DescribedAhead& describedAhead() {
  static DescribedAhead only;
  return only;
}

}  // namespace

EngineFileExpected::EngineFileExpected() {
  const std::scoped_lock lock(describedAhead().mutex);
  ++describedAhead().expected;
}

EngineFileExpected::~EngineFileExpected() {
  std::optional<Ahead> forgotten;
  const std::scoped_lock lock(describedAhead().mutex);
  if (--describedAhead().expected == 0) forgotten.swap(describedAhead().ahead);
}

void describeAhead(std::shared_ptr<const Model> model) {
  if (model->weightBytes > kMostBytesAhead) return;
  std::optional<Ahead> before;  // ends when nothing is locked
  const std::scoped_lock lock(describedAhead().mutex);
  if (describedAhead().expected == 0) return;
  before.swap(describedAhead().ahead);
  std::promise<DescribedModel> promise;
  Ahead ahead{.model = model, .described = promise.get_future(), .thread = {}};
  try {
    ahead.thread = std::jthread(
        [](const StopToken& stop, std::shared_ptr<const Model> of, std::promise<DescribedModel> to) {
          try {
            to.set_value(describe(std::move(of), stop));
          } catch (...) {
            to.set_exception(std::current_exception());
          }
        },
        std::move(model), std::move(promise));
  } catch (const std::system_error&) {
    return;  // there are no more threads: it is described when it is written
  }
  describedAhead().ahead = std::move(ahead);
}

void awaitDescription() {
  const std::scoped_lock lock(describedAhead().mutex);
  if (describedAhead().ahead) describedAhead().ahead->described.wait();
}

DescribedModel describedModel(const std::shared_ptr<const Model>& model) {
  std::optional<Ahead> ahead;
  {
    const std::scoped_lock lock(describedAhead().mutex);
    if (describedAhead().ahead && describedAhead().ahead->model == model) ahead.swap(describedAhead().ahead);
  }
  return ahead ? ahead->described.get() : describe(model, {});
}

}  // namespace fusescope
