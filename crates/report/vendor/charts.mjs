// The parts of Apache ECharts that the pages use; what is not named here is left out of echarts.js.
import { use, init, version } from 'echarts/core';
import { BarChart, BoxplotChart, HeatmapChart, LineChart } from 'echarts/charts';
import { AriaComponent, GridComponent, TooltipComponent, VisualMapComponent } from 'echarts/components';
import { CanvasRenderer, SVGRenderer } from 'echarts/renderers';

use([
  BarChart, BoxplotChart, HeatmapChart, LineChart,
  AriaComponent, GridComponent, TooltipComponent, VisualMapComponent,
  CanvasRenderer, SVGRenderer,
]);

export { init, version };
