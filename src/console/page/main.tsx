// The entry of the page.
import { render } from 'preact'
import { App } from './app.tsx'

render(<App />, document.querySelector('#root') ?? document.body)
