#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "interchange/export_row.h"
#include "interchange/exports.h"

namespace fusescope {

#define EXPORTER(name)                     \
  extern const Exporter k##name##Exporter; \
  extern const ExportRow k##name##Row;
#include "interchange/exporters.inc"
#undef EXPORTER

const std::vector<const Exporter*>& exporters() {
  static const std::vector<const Exporter*> list{
#define EXPORTER(name) &k##name##Exporter,
#include "interchange/exporters.inc"
#undef EXPORTER
  };
  return list;
}

const std::vector<const ExportRow*>& exportRows() {
  static const std::vector<const ExportRow*> rows{
#define EXPORTER(name) &k##name##Row,
#include "interchange/exporters.inc"
#undef EXPORTER
  };
  return rows;
}

const Exporter* findExporter(std::string_view name) {
  const auto found = std::ranges::find(exporters(), name, &Exporter::name);
  return found == exporters().end() ? nullptr : *found;
}

const ExporterOption* Exporter::option(std::string_view name) const {
  const auto found = std::ranges::find(options, name, &ExporterOption::name);
  return found == options.end() ? nullptr : *found;
}

Status checkOptions(const Exporter& exporter, const ExporterValues& given) {
  for (const auto& [name, value] : given) {
    if (value.empty() || exporter.option(name) != nullptr) continue;
    std::vector<std::string> formats;
    for (const Exporter* each : exporters())
      if (each->option(name) != nullptr) formats.emplace_back(each->name);
    return Diagnostic{.message = fmt::format("the format {} does not have this option", exporter.name),
                      .where = {.attribute = "--" + name},
                      .help = fmt::format("Leave it out, or choose one of {}.", joined(formats))};
  }
  return Done{};
}

}  // namespace fusescope
