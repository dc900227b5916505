#!/usr/bin/env bash
# Builds echarts.js and sortable.js from the packages that package-lock.json names, and notes their hashes.
# Run by `make vendor`; the results are committed, so that nothing but this needs npm.
set -euo pipefail
cd "$(dirname "$0")"
npm ci --ignore-scripts --silent
version() { node -p "require('./node_modules/$1/package.json').version"; }

cp node_modules/echarts/LICENSE LICENSE.echarts
cp node_modules/echarts/NOTICE NOTICE.echarts
cp node_modules/zrender/LICENSE LICENSE.zrender
{
	echo "/*!"
	echo "Apache ECharts $(version echarts), Apache License 2.0, https://www.apache.org/licenses/LICENSE-2.0"
	cat NOTICE.echarts
	echo
	echo "ZRender $(version zrender), https://github.com/ecomfe/zrender"
	cat LICENSE.zrender
	echo
	echo "tslib $(version tslib), Copyright (c) Microsoft Corporation, 0BSD"
	echo "*/"
	node_modules/.bin/esbuild charts.mjs --bundle --minify --format=iife --global-name=echarts \
		--legal-comments=none '--define:process.env.NODE_ENV="production"' --log-level=warning
} > echarts.js
{
	echo "/*! sortable-tablesort $(version sortable-tablesort), Unlicense, https://github.com/tofsjonas/sortable */"
	# Not its accessibility script: that gives heads names and a key of its own, where a button does all of it.
	cat node_modules/sortable-tablesort/dist/sortable.min.js
} > sortable.js
rm -r node_modules
sha256sum echarts.js sortable.js > SHA256SUMS
