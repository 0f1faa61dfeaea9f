#include "compilers/torch/torch_profile.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <vector>

#include "base/json_fields.h"
#include "base/medians.h"

namespace fusescope::torch_compiler {
namespace {

constexpr std::string_view kRun = "fusescope.run";
constexpr std::string_view kNode = "fusescope.node:";

/// An event of the profile, with times in microseconds.
struct Event {
  std::string_view category, name, thread;
  double begin = 0, duration = 0;
  std::int64_t correlation = 0;
  double end() const { return begin + duration; }
};

struct Profile {
  std::vector<std::string> names;
  std::vector<Event> host;  ///< calls in the order of their beginnings, so that a call comes before the calls inside it
  std::multimap<std::int64_t, Event> card;  ///< by correlation
  std::vector<std::string> kernels;         ///< the kernels of TorchInductor in order
  bool hasCard() const { return !card.empty(); }
};

Diagnostic noProfile() {
  return {.message = "the profile that the probe for torch wrote cannot be read"};
}

bool isOnCard(std::string_view category) {
  return category == "kernel" || category == "gpu_memcpy" || category == "gpu_memset";
}

/// Reads [category, name, begin, duration, thread, correlation], where texts are indexes into `names`.
Result<Event> eventFrom(const Json& json, const std::vector<std::string>& names) {
  if (!json.is_array() || json.size() != 6) return noProfile();
  if (!std::ranges::all_of(json, [](const Json& each) { return each.is_number(); })) return noProfile();
  const auto text = [&](int at) -> std::optional<std::string_view> {
    const auto position = json[at].is_number_integer() ? json[at].get<std::int64_t>() : -1;
    if (position < 0 || position >= std::ssize(names)) return {};
    return names[static_cast<std::size_t>(position)];
  };
  const auto category = text(0), name = text(1), thread = text(4);
  Event event{.begin = json[2].get<double>(), .duration = json[3].get<double>()};
  if (!category || !name || !thread || !std::isfinite(event.begin) || !(event.duration >= 0)) return noProfile();
  event.category = *category;
  event.name = *name;
  event.thread = *thread;
  event.correlation = json[5].is_number_integer() ? json[5].get<std::int64_t>() : 0;
  return event;
}

Status read(std::string_view text, Profile& profile) {
  const Json json = Json::parse(text, nullptr, false);
  JsonFields fields(json);
  fields.require("names").read("names", profile.names).read("kernels", profile.kernels);
  if (fields.error() || !json.contains("events") || !json["events"].is_array()) return noProfile();
  for (const Json& entry : json["events"]) {
    const Event event = TRY(eventFrom(entry, profile.names));
    if (isOnCard(event.category))
      profile.card.emplace(event.correlation, event);
    else
      profile.host.push_back(event);
  }
  std::ranges::stable_sort(profile.host, [](const Event& a, const Event& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.duration > b.duration;
  });
  return Done{};
}

/// Returns the profiler's name for a kernel of TorchInductor: "aten::addmm" for "extern_kernels.addmm:2", and
/// "triton_poi_…" and "cpp_fused_…" without the number.
std::string calledInProfile(std::string_view kernel) {
  kernel = kernel.substr(0, kernel.rfind(':'));
  constexpr std::string_view kExtern = "extern_kernels.", kOps = "torch.ops.";
  if (kernel.starts_with(kExtern)) return "aten::" + std::string(kernel.substr(kExtern.size()));
  if (!kernel.starts_with(kOps)) return std::string(kernel);
  kernel.remove_prefix(kOps.size());
  const std::size_t dot = kernel.find('.');
  if (dot == std::string_view::npos) return std::string(kernel);
  std::string_view name = kernel.substr(dot + 1);
  return std::string(kernel.substr(0, dot)) + "::" + std::string(name.substr(0, name.find('.')));
}

/// Returns "cpp_fused_add_0" for "graph_0_cpp_fused_add_0".
std::string_view withoutGraph(std::string_view name) {
  constexpr std::string_view kGraph = "graph_";
  if (!name.starts_with(kGraph)) return name;
  std::size_t at = kGraph.size();
  while (at < name.size() && name[at] >= '0' && name[at] <= '9') ++at;
  return at > kGraph.size() && at < name.size() && name[at] == '_' ? name.substr(at + 1) : name;
}

class Times {
 public:
  explicit Times(const Profile& profile) : m_profile(profile) {
    for (const std::string& kernel : profile.kernels) m_kernelsOf[calledInProfile(kernel)].push_back(kernel);
  }

  std::map<std::string, double> run() {
    bool isFirst = true;
    for (std::size_t i = 0; i < m_profile.host.size(); ++i) {
      if (m_profile.host[i].name != kRun) continue;
      if (!isFirst) takeRun(i);
      isFirst = false;
    }
    std::map<std::string, double> medians;
    for (auto& [kernel, us] : m_times) medians.emplace(kernel, upperMedian(std::move(us)) / 1000);
    return medians;
  }

 private:
  using CallsOfRun = std::map<std::string, std::vector<double>, std::less<>>;

  void takeRun(std::size_t run) {
    const double end = m_profile.host[run].end();
    CallsOfRun calls;
    double taken = -1;
    for (std::size_t i = run + 1; i < m_profile.host.size() && m_profile.host[i].begin < end; ++i) {
      const Event& event = m_profile.host[i];
      if (event.begin < taken) continue;
      if (event.name.starts_with(kNode)) {
        m_times[std::string(event.name.substr(kNode.size()))].push_back(timeOf(i));
        taken = event.end();
      } else if (const auto name = std::string(withoutGraph(event.name)); m_kernelsOf.contains(name)) {
        calls[name].push_back(timeOf(i));
        taken = event.end();
      }
    }
    if (m_profile.hasCard()) addOwnKernels(run, calls);
    for (const auto& [name, us] : calls) {
      const auto& kernels = m_kernelsOf.find(name)->second;
      // Other code calls it, too, so that it is unknown to whom a call belongs.
      if (us.size() != kernels.size()) continue;
      for (std::size_t i = 0; i < us.size(); ++i) m_times[kernels[i]].push_back(us[i]);
    }
  }

  /// Kernels that TorchInductor wrote itself are started without an operator, and have their own names on the card.
  void addOwnKernels(std::size_t run, CallsOfRun& calls) const {
    const double end = m_profile.host[run].end();
    CallsOfRun own;
    for (std::size_t i = run + 1; i < m_profile.host.size() && m_profile.host[i].begin < end; ++i) {
      const Event& launch = m_profile.host[i];
      if (launch.correlation == 0) continue;
      const auto [from, to] = m_profile.card.equal_range(launch.correlation);
      for (auto each = from; each != to; ++each)
        if (m_kernelsOf.contains(std::string(each->second.name)))
          own[std::string(each->second.name)].push_back(each->second.duration);
    }
    for (auto& [name, us] : own) calls.insert_or_assign(name, std::move(us));
  }

  /// Returns the time of the call at `at`: of the kernels that it started on the card, otherwise its own; for a node,
  /// the time of the operators that it called.
  double timeOf(std::size_t at) const {
    const Event& call = m_profile.host[at];
    const bool isNode = call.name.starts_with(kNode);
    double onCard = 0, operators = 0, taken = -1;
    for (std::size_t i = at; i < m_profile.host.size() && m_profile.host[i].begin <= call.end(); ++i) {
      const Event& event = m_profile.host[i];
      if (event.thread != call.thread) continue;
      if (event.correlation != 0) {
        const auto [from, to] = m_profile.card.equal_range(event.correlation);
        for (auto each = from; each != to; ++each) onCard += each->second.duration;
      }
      if (i == at || event.category != "cpu_op" || event.begin < taken) continue;
      operators += event.duration;
      taken = event.end();
    }
    if (m_profile.hasCard()) return onCard;
    return isNode ? operators : call.duration;
  }

  const Profile& m_profile;
  std::map<std::string, std::vector<std::string>, std::less<>> m_kernelsOf;  ///< by the profiler's names
  std::map<std::string, std::vector<double>> m_times;                        ///< by kernel, for each run
};

}  // namespace

Result<std::map<std::string, double>> kernelTimes(std::string_view text) {
  Profile profile;
  TRY(read(text, profile));
  return Times(profile).run();
}

}  // namespace fusescope::torch_compiler
